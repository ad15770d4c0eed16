import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openclaw } from "../../src/runtimes/openclaw.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// OpenClaw's state as the image's build has prepared it, and agents that start from it.

/** The unique values in OpenClaw's folder. */
async function keysIn(folder: string): Promise<string[]> {
  using database = new DatabaseSync(join(folder, "state/openclaw.sqlite"), { readOnly: true });
  const all = (query: string) =>
    database
      .prepare(query)
      .all()
      .map((row) => JSON.stringify(row));
  const key = await readFile(join(folder, "config-journal-fingerprint.key"), "hex").catch(() => null);
  return [
    ...all("SELECT device_id, private_key_pem FROM device_identities"),
    ...all("SELECT hmac_key FROM config_revision_keys"),
    ...(key ? [key] : []),
  ];
}

test("the image holds OpenClaw's state without a key and conversation, and its compiled code", async () => {
  const prepared = join(dirname(await guestPackages()), "openclaw");
  expect(await keysIn(join(prepared, "state"))).toEqual([]);
  expect((await readdir(join(prepared, "compile-cache"))).length).toBeGreaterThan(0);
  const files = await readdir(prepared, { recursive: true });
  expect(files.filter((file) => file.endsWith("openclaw-agent.sqlite"))).toEqual([]);
});

test("two agents start from it and share no key; a new start keeps them", async () => {
  const packages = await guestPackages();
  await using service = await ScriptedService.start({}, { runtimes: [openclaw], packages });
  const folders: string[] = [];
  for (const name of ["ada", "eve"]) {
    await service.client.createAgent(name, { runtime: "openclaw" });
    const home = (await service.client.ask(name, "run: pwd")).match(/\/\S+\/machines\/[\w-]+/)![0];
    folders.push(join(home, ".openclaw"));
  }
  const [ada, eve] = (await Promise.all(folders.map(keysIn))) as [string[], string[]];
  expect(ada).toHaveLength(3);
  expect(eve).toHaveLength(3);
  expect(ada.filter((key) => eve.includes(key))).toEqual([]);
  await service.client.call("POST", "/agents/ada/restart");
  expect(await service.client.ask("ada", "Hello.")).not.toBe("");
  expect(await keysIn(folders[0]!)).toEqual(ada);
});
