import { access, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DemoServer } from "../../src/gateway/demo/demo-server.ts";
import { openclaw } from "../../src/runtimes/openclaw.ts";
import { prepareOpenclaw } from "../../src/runtimes/openclaw-prepare.ts";
import { preparedFiles, stateFolderOf } from "../../src/runtimes/openclaw-prepared.ts";
import { endRuntime } from "../../src/runtimes/process.ts";
import type { StartContext } from "../../src/runtimes/runtime.ts";
import { guestPackages } from "../support/guest-packages.ts";

// What the image's build prepares for OpenClaw, as a process of this host: two agents share none of it but what is the
// same for all. They live in the same home, one after the other, as each has the same path in its own machine.

let folder: string;
let model: DemoServer;
let context: StartContext;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-prepared-"));
  model = await DemoServer.start();
  context = {
    uid: process.getuid!(),
    gid: process.getgid!(),
    home: join(folder, "home"),
    packages: await guestPackages(),
    preparedFolder: join(folder, "prepared"),
    stateFolder: folder,
    gatewayUrl: model.url,
    proxyUrl: "http://127.0.0.1:9",
    functionsUrl: "http://127.0.0.1:9/mcp",
    environmentFile: join(folder, "environment"),
    log: () => {},
    mcpServers: {},
  };
  await mkdir(context.home);
  await prepareOpenclaw(context);
}, 600_000);
afterAll(async () => {
  await endRuntime(context);
  model[Symbol.dispose]();
  await rm(folder, { recursive: true, maxRetries: 10 });
});

interface Agent {
  /** When OpenClaw last ran its migrations, in milliseconds since 1970. */
  migrated: number;
  /** Its keys, its token, and every UUID in its database. */
  unique: string[];
}

/** Starts OpenClaw, reads its files while it runs, and ends it. */
async function agent(): Promise<Agent> {
  const session = await openclaw.start(context);
  const state = stateFolderOf(context);
  const process = parseInt(await readFile(join(folder, "runtime-process"), "utf8"), 10);
  const variables = (await readFile(`/proc/${process}/environ`, "utf8")).split("\0");
  const token = variables.find((variable) => variable.startsWith("OPENCLAW_GATEWAY_TOKEN="))!;
  const key = await readFile(join(state, "config-journal-fingerprint.key"), "hex");
  const found = {
    migrated: migratedIn(state),
    unique: [token, key, ...uniqueIn(join(state, "state/openclaw.sqlite"))],
  };
  await endRuntime(context, { inOrder: true });
  await session.ended;
  return found;
}

function migratedIn(state: string): number {
  using database = new DatabaseSync(join(state, "state/openclaw.sqlite"));
  const row = database.prepare("SELECT updated_at FROM schema_meta WHERE meta_key = 'startup-migrations'").get();
  return Number(row!.updated_at);
}

function uniqueIn(path: string): string[] {
  using database = new DatabaseSync(path);
  const all = (table: string) => JSON.stringify(database.prepare(`SELECT * FROM "${table}"`).all());
  const keys = ["config_revision_keys", "device_identities"].map(all);
  for (const rows of keys) expect(rows).not.toBe("[]");
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const text = tables.map(({ name }) => all(String(name))).join("");
  return [...keys, ...(text.match(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g) ?? [])];
}

test("agents skip the migrations, and share no token, key or id", { timeout: 300_000 }, async () => {
  const first = await agent();
  await rename(context.home, join(folder, "first"));
  await mkdir(context.home);
  const second = await agent();
  const prepared = migratedIn(preparedFiles(context).state);
  expect([first.migrated, second.migrated]).toEqual([prepared, prepared]);
  expect(first.unique.length).toBeGreaterThan(4);
  expect(first.unique.filter((value) => second.unique.includes(value))).toEqual([]);
});

test("a restart skips the migrations and keeps the agent's keys, but not its token", { timeout: 300_000 }, async () => {
  const state = stateFolderOf(context);
  const [before, keyFile] = [migratedIn(state), await readFile(join(state, "config-journal-fingerprint.key"))];
  const keys = uniqueIn(join(state, "state/openclaw.sqlite")).slice(0, 2);
  const restarted = await agent();
  expect(restarted.migrated).toBe(before);
  expect(restarted.unique).toEqual(expect.arrayContaining([keyFile.toString("hex"), ...keys]));
});

test("what a template's machine made up is gone from the disk before its clones are made", async () => {
  await openclaw.forgetIdentity!(context);
  const state = stateFolderOf(context);
  await expect(access(join(state, "config-journal-fingerprint.key"))).rejects.toThrow("ENOENT");
  using database = new DatabaseSync(join(state, "state/openclaw.sqlite"));
  for (const table of ["config_revision_keys", "device_identities"])
    expect(database.prepare(`SELECT * FROM ${table}`).all()).toEqual([]);
});
