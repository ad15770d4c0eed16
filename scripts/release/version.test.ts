import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

const repository = join(import.meta.dirname, "../..");
const read = async (path: string) => JSON.parse(await readFile(join(repository, path), "utf8"));

test("package.json, the workspaces, the lock file and OpenAPI have the same version", async () => {
  const { version, dependencies } = await read("package.json");
  const { packages } = await read("package-lock.json");
  const versions = {
    client: (await read("packages/client/package.json")).version,
    "dependency on the client": dependencies["@berth/client"],
    dashboard: (await read("dashboard/package.json")).version,
    "lock file": packages[""].version,
    "client in the lock file": packages["packages/client"].version,
    "dashboard in the lock file": packages.dashboard.version,
    OpenAPI: (await read("docs/openapi.json")).info.version,
  };
  expect(Object.entries(versions).filter(([, each]) => each !== version)).toEqual([]);
});
