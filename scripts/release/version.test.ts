import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const repository = join(import.meta.dirname, "../..");
const text = (path: string) => readFile(join(repository, path), "utf8");
const read = async (path: string) => JSON.parse(await text(path));

test("package.json, the workspaces, the lock file, compose.yaml and OpenAPI have the same version", async () => {
  const { version, dependencies } = await read("package.json");
  const { packages } = await read("package-lock.json");
  const versions = {
    client: (await read("packages/client/package.json")).version,
    "dependency on the client": dependencies["@berth/client"],
    dashboard: (await read("dashboard/package.json")).version,
    "lock file": packages[""].version,
    "client in the lock file": packages["packages/client"].version,
    "dashboard in the lock file": packages.dashboard.version,
    "compose.yaml": /localhost\/berth:(.*)/.exec(await text("deploy/container/compose.yaml"))?.[1],
    OpenAPI: (await read("docs/openapi.json")).info.version,
  };
  expect(Object.entries(versions).filter(([, each]) => each !== version)).toEqual([]);
});
