import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Approvals } from "./approvals.ts";
import { clearLeftovers } from "./openclaw-leftovers.ts";
import type { RuntimeContext } from "./runtime.ts";

let home: string;
let path: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "berth-openclaw-"));
  path = join(home, ".openclaw/agents/main/agent/openclaw-agent.sqlite");
});
afterEach(() => rm(home, { recursive: true }));

async function clear(asAnother = false): Promise<string[]> {
  const lines: string[] = [];
  const own = { uid: process.getuid!(), gid: process.getgid!(), log: (line: string) => lines.push(line) };
  const files = {
    environmentFile: "",
    proxyUrl: "",
    packages: "",
    gatewayUrl: "",
    functionsUrl: "",
    runtimePort: 0,
    approvals: new Approvals(),
    stateFolder: home,
  };
  await clearLeftovers(process.execPath, { home, ...own, ...files } satisfies RuntimeContext, asAnother);
  return lines;
}

test("an interrupted run is ended and not resumed", async () => {
  await mkdir(dirname(path), { recursive: true });
  using database = new DatabaseSync(path);
  database.exec(
    "CREATE TABLE session_nodes (session_key TEXT, entry_json TEXT, status TEXT, entry_valid INTEGER DEFAULT 0) STRICT",
  );
  const insert = database.prepare("INSERT INTO session_nodes (session_key, entry_json, status) VALUES (?, ?, ?)");
  const tried = { abortedLastRun: true, mainRestartRecovery: { chargedAttempts: 2 }, restartRecoveryRuns: [{}] };
  insert.run("going on", JSON.stringify({ sessionId: "1", status: "running", label: "船", ...tried }), "running");
  insert.run("broken", "{", "running");
  insert.run("done", JSON.stringify({ sessionId: "2", status: "done" }), "done");
  expect(await clear()).toEqual([]);
  const rows = database.prepare("SELECT * FROM session_nodes").all();
  expect(rows.map(({ entry_json, status, entry_valid }) => [entry_json, status, entry_valid])).toEqual([
    [JSON.stringify({ sessionId: "1", status: "killed", label: "船" }), "killed", 1],
    ["{", "killed", 0],
    [JSON.stringify({ sessionId: "2", status: "done" }), "done", 0],
  ]);
});

test("a program of the agent's that keeps the database to itself is not waited for", async () => {
  await mkdir(dirname(path), { recursive: true });
  using database = new DatabaseSync(path);
  database.exec(
    "CREATE TABLE session_nodes (session_key TEXT, entry_json TEXT, status TEXT, entry_valid INTEGER DEFAULT 0) STRICT",
  );
  database.exec("BEGIN EXCLUSIVE");
  expect(await clear()).toEqual(["openclaw may continue what was interrupted: database is locked"]);
});

test("an agent without a conversation is left as it is; a database that cannot be read is logged", async () => {
  expect(await clear()).toEqual([]);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, "This is no database, but words that fill more than the sixteen bytes of its header.");
  expect(await clear()).toEqual(["openclaw may continue what was interrupted: file is not a database"]);
});

test("another machine gets new installation ids; the rest stays", async () => {
  const state = join(home, ".openclaw/state/openclaw.sqlite");
  const key = join(home, ".openclaw/config-journal-fingerprint.key");
  await mkdir(dirname(state), { recursive: true });
  await writeFile(key, "key");
  using database = new DatabaseSync(state);
  const tables = ["state_leases", "device_identities", "config_revision_keys", "diagnostic_events", "schema_meta"];
  const left = () => tables.filter((table) => database.prepare(`SELECT * FROM ${table}`).get());
  for (const table of tables)
    database.exec(`CREATE TABLE ${table} (id TEXT, meta_key TEXT); INSERT INTO ${table} VALUES ('1', '')`);
  expect(await clear()).toEqual([]);
  expect(left()).toEqual(tables.slice(1));
  expect(await clear(true)).toEqual([]);
  expect(left()).toEqual(["schema_meta"]);
  await expect(readFile(key)).rejects.toMatchObject({ code: "ENOENT" });
});

test("the leases of a process that was cut off are dropped, also where the other database cannot be read", async () => {
  const state = join(home, ".openclaw/state/openclaw.sqlite");
  for (const file of [path, state]) await mkdir(dirname(file), { recursive: true });
  await writeFile(path, "This is no database, but words that fill more than the sixteen bytes of its header.");
  using database = new DatabaseSync(state);
  database.exec("CREATE TABLE state_leases (scope TEXT, lease_key TEXT, expires_at INTEGER) STRICT");
  database.exec("INSERT INTO state_leases VALUES ('gateway-owner', 'global', 9e15)");
  database.exec("CREATE TABLE schema_meta (meta_key TEXT) STRICT");
  database.exec("INSERT INTO schema_meta VALUES ('primary'), ('state-migrations')");
  expect(await clear()).toEqual(["openclaw may continue what was interrupted: file is not a database"]);
  expect(database.prepare("SELECT * FROM state_leases").all()).toEqual([]);
  const migrated = () => database.prepare("SELECT meta_key FROM schema_meta").all();
  expect(migrated()).toEqual([{ meta_key: "primary" }]);
  // After an end in order nothing is to be repaired.
  database.exec("INSERT INTO schema_meta VALUES ('state-migrations')");
  await clear();
  expect(migrated()).toHaveLength(2);
});
