import { execFile } from "node:child_process";
import { chmod, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { folderPrefix } from "../support/config.ts";
import { ScriptedService } from "../support/scripted-service.ts";

const run = promisify(execFile);
const launcher = join(import.meta.dirname, "../../berth");

/** The tool, with its output; for a data folder. */
async function berth(args: string[], environment: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", ...environment };
  return run(launcher, args, { env, maxBuffer: 1024 ** 3 });
}

/** One that the users of machines and of the database can pass through. */
async function newFolder() {
  const folder = await mkdtempDisposable(`${folderPrefix}backup-`);
  await chmod(folder.path, 0o711);
  return folder;
}

test("a service is backed up while it runs, and restored into an empty folder", async () => {
  await using folder = await newFolder();
  const file = join(folder.path, "backup.tar");
  const dataFolder = join(folder.path, "data");
  let entries: unknown;
  let secretKey: string;
  {
    await using service = await ScriptedService.start();
    const { client, config } = service;
    await client.createAgent("ada");
    await client.chat("ada", "say one");
    await client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "hush", hosts: ["example.com"] });
    entries = (await client.call("GET", "/billing/entries")).body;
    const { stdout } = await berth(["admin", "backup", file, "--json"], {
      BERTH_URL: service.server.url,
      BERTH_API_KEY: client.key,
    });
    expect(JSON.parse(stdout)).toMatchObject({ agents: 1, leftOut: [] });
    secretKey = join(folder.path, "secret.key");
    await writeFile(secretKey, await readFile(join(config.dataFolder, "secret.key")));
  }
  expect(JSON.parse((await berth(["admin", "verify", file, "--json"])).stdout)).toMatchObject({
    machines: [{ name: "ada" }],
  });
  await berth(["admin", "restore", file, "--secret-key", secretKey], { BERTH_DATA_DIR: dataFolder });
  await using service = await ScriptedService.start({ dataFolder });
  const { client } = service;
  expect((await client.call("GET", "/agents/ada")).body).toMatchObject({ status: "suspended" });
  expect((await client.call("GET", "/agents/ada/turns")).body.data).toMatchObject([
    { message: "say one", status: "completed", undone: false },
  ]);
  expect((await client.call("GET", "/billing/entries")).body).toEqual(entries);
  await client.chat("ada", "say two");
});
