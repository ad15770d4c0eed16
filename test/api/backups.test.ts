import { execFile } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, mkdir, mkdtempDisposable, open, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readKey, restoreBackup } from "../../src/backup/restore.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { createServer } from "../../src/server.ts";
import { databaseOf } from "../support/accounts.ts";
import type { Answer } from "../support/client.ts";
import { folderPrefix, testConfig } from "../support/config.ts";
import { ScriptedService } from "../support/scripted-service.ts";

const run = promisify(execFile);
const checkout = join(import.meta.dirname, "../..");

/** The tool, with its output; for a data folder or a service. */
async function berth(args: string[], environment: Record<string, string> = {}) {
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", ...environment };
  return run(join(checkout, "berth"), args, { env });
}

/** One that the users of machines and of the database can pass through. */
async function newFolder() {
  const folder = await mkdtempDisposable(`${folderPrefix}backup-`);
  await chmod(folder.path, 0o711);
  return folder;
}

/** The blocks of a language in what docs/operating.md says about databases and backups. */
async function documented(language: string): Promise<string[]> {
  const text = await readFile(join(checkout, "docs/operating.md"), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, block]) => block!);
}

describe("a backup", () => {
  let service: ScriptedService;
  let folder: Awaited<ReturnType<typeof newFolder>>;
  let file: string;
  let secretKey: string;
  const stored = randomBytes(1_500_000);

  beforeAll(async () => {
    folder = await newFolder();
    service = await ScriptedService.start();
    await service.client.createAgent("ada");
    await service.client.chat("ada", "hello");
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", new File([stored], "stored.bin"));
    const { url, key } = service.client;
    const headers = { authorization: `Bearer ${key}` };
    expect((await fetch(`${url}/v1/files`, { method: "POST", headers, body: form })).status).toBe(200);
    file = join(folder.path, "backup.tar");
    secretKey = join(service.config.dataFolder, "secret.key");
    const { body } = await service.client.call("POST", "/admin/backups");
    const response = await service.client.fetch("GET", `/admin/backups/${body.id}`);
    await writeFile(file, response.body!);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const restore = async (
    dataFolder: string,
    changes: Partial<Parameters<typeof restoreBackup>[1]> = {},
    source = file,
  ) =>
    restoreBackup(createReadStream(source), {
      config: { dataFolder, databaseUrl: null },
      secretKey: { key: await readKey(secretKey), toKeep: true },
      doing: () => {},
      ...changes,
    });

  test("holds neither the secret key nor the operator's", async () => {
    const bytes = await readFile(file);
    for (const name of ["secret.key", "operator.key"]) {
      const key = (await readFile(join(service.config.dataFolder, name), "utf8")).trim();
      expect(bytes.includes(key), name).toBe(false);
    }
  });

  test("waits to be read, one at a time; what is not there any more is said", async () => {
    const { client } = service;
    const first = (await client.call("POST", "/admin/backups")).body;
    const reading = await client.fetch("GET", `/admin/backups/${first.id}`);
    const reader = reading.body!.getReader();
    await reader.read();
    const second = (await client.call("POST", "/admin/backups")).body;
    expect(second.code ?? "made").toMatch(/backup_in_progress|made/);
    await reader.cancel();
    await expect.poll(async () => (await client.call("POST", "/admin/backups")).status).toBe(201);
    expect(await client.call("GET", `/admin/backups/${first.id}`)).toMatchObject({
      status: 404,
      body: { code: "backup_not_found" },
    });
  });

  test("an agent that is deleted, and one whose machine is lost, do not keep the others out", async () => {
    const { client, driver } = service;
    await client.createAgent("lost");
    // Asleep, so that nobody starts it again.
    await client.call("POST", "/agents/lost/suspend");
    await driver.destroy(driver.suspended.at(-1)!);
    const { body } = await client.call("POST", "/admin/backups");
    expect(body).toMatchObject({
      agents: 1,
      leftOut: [{ agent: "lost", reason: expect.stringContaining("machine_lost") }],
    });
    await client.call("DELETE", "/agents/lost");
  });

  /** Makes a backup. `meanwhile` runs after the machine of `ada` was staged, and before the database is dumped. */
  async function backupWhile(meanwhile: () => Promise<unknown>): Promise<Answer> {
    const { client, driver } = service;
    await client.createAgent("slow");
    const gate = Promise.withResolvers<void>();
    driver.suspendGate = gate.promise;
    const suspended = client.call("POST", "/agents/slow/suspend");
    await expect.poll(() => driver.suspending).toBe(true);
    const staged = async () => (await readdir(join(service.config.dataFolder, "staging")).catch(() => [])).toSorted();
    const before = await staged();
    const made = client.call("POST", "/admin/backups");
    // It has begun, and waits for the machine that is being suspended.
    await expect.poll(async () => (await staged()).filter((id) => !before.includes(id))).toHaveLength(1);
    await meanwhile();
    driver.suspendGate = Promise.resolve();
    gate.resolve();
    await suspended;
    const answer = await made;
    await client.call("DELETE", "/agents/slow");
    return answer;
  }

  test("names the agents that were created while it was made", async () => {
    const { client } = service;
    const { body } = await backupWhile(() => client.createAgent("late"));
    expect(body.leftOut).toMatchObject([{ agent: "late" }]);
    await client.call("DELETE", "/agents/late");
  });

  test("restores an agent in the runtime and conversation of its machine's moment", async () => {
    const { client } = service;
    const { body } = await backupWhile(async () => {
      await client.call("PATCH", "/agents/ada?wait=ready", { runtime: "opencode" });
      await client.ask("ada", "of the next conversation");
    });
    const later = join(folder.path, "later.tar");
    await writeFile(later, (await client.fetch("GET", `/admin/backups/${body.id}`)).body!);
    await using other = await newFolder();
    await restore(other.path, {}, later);
    await using restored = await ScriptedService.start({ dataFolder: other.path });
    expect((await restored.client.call("GET", "/agents/ada")).body.runtime).toBe("claude-code");
    expect(await restored.client.ask("ada", "recall")).toBe("hello\nrecall\n");
  });

  test("leaves out the search's index, which the restored service makes again", async () => {
    await using other = await newFolder();
    await restore(other.path);
    await using restored = await ScriptedService.start({ dataFolder: other.path });
    const found = async () => (await restored.client.call("GET", "/search?q=hello")).body.data;
    await expect.poll(found, { timeout: 10_000 }).toMatchObject([{ kind: "reply" }, { kind: "message" }]);
  });

  test("holds the files of OpenAI's Files API with their bytes", async () => {
    await using other = await newFolder();
    await restore(other.path);
    await using restored = await ScriptedService.start({ dataFolder: other.path });
    const { data } = (await restored.client.call("GET", "/v1/files")).body;
    expect(data).toMatchObject([{ filename: "stored.bin", bytes: stored.length }]);
    const content = await restored.client.fetch("GET", `/v1/files/${data[0].id}/content`);
    expect(stored.equals(Buffer.from(await content.arrayBuffer()))).toBe(true);
  });

  test("holds the messages that waited behind a running turn", async () => {
    const { client } = service;
    await client.createAgent("bob");
    const open = async (message: string) =>
      client.fetch("POST", "/agents/bob/chat", { message, whenBusy: "queue", include: ["status"] });
    const [running, waiting] = [await open("hang"), await open("wait")];
    const { body } = await client.call("POST", "/admin/backups");
    const queued = join(folder.path, "queued.tar");
    await writeFile(queued, (await client.fetch("GET", `/admin/backups/${body.id}`)).body!);
    await client.call("DELETE", "/agents/bob");
    await Promise.all([running.text(), waiting.text()]);
    await using other = await newFolder();
    await restore(other.path, {}, queued);
    await using restored = await ScriptedService.start({ dataFolder: other.path });
    const queue = () => restored.client.call("GET", "/agents/bob/queue");
    expect((await queue()).body).toMatchObject({ held: "failed", data: [{ message: "wait" }] });
    await restored.client.call("POST", "/agents/bob/queue", { action: "resume" });
    await expect
      .poll(async () => (await restored.client.call("GET", "/agents/bob/turns")).body.data[0])
      .toMatchObject({ message: "wait", reply: "wait", status: "completed" });
  });

  test("releases the credits that were held when it was made", async () => {
    const { client } = service;
    await using database = await databaseOf(service);
    const { rows } = await sql<{
      account: string;
      agent: string;
    }>`select account_id as account, id as agent from agents where name = 'ada'`.execute(database);
    const { account, agent } = rows[0]!;
    const of = { account_id: account, agent_id: agent, agent_name: "ada" };
    const hold = { id: randomUUID(), ...of, model: "demo/demo", amount: 1_000 };
    await sql`select hold_credits(jsonb_populate_record(null::credit_holds, ${JSON.stringify(hold)}::jsonb), '1 hour')`.execute(
      database,
    );
    expect((await client.call("GET", "/billing")).body.held).toBe("0.001");
    const { body } = await client.call("POST", "/admin/backups");
    const later = join(folder.path, "held.tar");
    await writeFile(later, (await client.fetch("GET", `/admin/backups/${body.id}`)).body!);
    await sql`select release_holds(${account}, ${hold.id})`.execute(database);
    await using other = await newFolder();
    await restore(other.path, {}, later);
    await using restored = await ScriptedService.start({ dataFolder: other.path });
    expect((await restored.client.call("GET", "/billing")).body.held).toBe("0");
  });

  test("is not restored over existing files, or during a server's run", async () => {
    await expect(restore(service.config.dataFolder)).rejects.toThrow(/is not empty/);
    await using other = await newFolder();
    await writeFile(join(other.path, "notes.txt"), "mine");
    await expect(restore(other.path)).rejects.toThrow(/is not empty/);
    expect(await readdir(other.path)).toEqual(["notes.txt"]);
  });

  test("needs its own secret key, or none", async () => {
    await using other = await newFolder();
    const wrong = { key: randomBytes(32).toString("base64"), toKeep: true };
    await expect(restore(other.path, { secretKey: wrong })).rejects.toThrow(
      /not the one that the backup's service had/,
    );
    expect(await readdir(other.path)).toEqual([]);
    const { stderr } = await berth(["admin", "restore", file], { BERTH_DATA_DIR: other.path }).catch((error) => error);
    expect(stderr).toContain("--secret-key FILE");
  });

  test.each(["cut off", "damaged"])("that is %s leaves an empty folder", async (how) => {
    await using other = await newFolder();
    const bytes = await readFile(file);
    const bad = join(folder.path, "bad.tar");
    if (how === "damaged") bytes[bytes.length >> 1]! ^= 1;
    await writeFile(bad, how === "damaged" ? bytes : bytes.subarray(0, bytes.length - 4096));
    await expect(restore(other.path, {}, bad)).rejects.toThrow(/The backup is|of the backup/);
    expect(await readdir(other.path)).toEqual([]);
    const { stderr } = await berth(["admin", "verify", bad]).catch((error) => error);
    expect(stderr).toMatch(/The backup is|of the backup/);
  });

  test("whose restoration was killed is taken for whole by nobody", async () => {
    await using other = await newFolder();
    // As it is after a kill: moved in part.
    await mkdir(join(other.path, "restoring/layers"), { recursive: true });
    await writeFile(join(other.path, "host.id"), "a\n");
    await expect(createServer(await testConfig({ dataFolder: other.path }))).rejects.toThrow(/is not whole/);
    await expect(restore(other.path)).rejects.toThrow(/Empty the folder and restore the backup again/);
  });

  test("is restored without its secret key: agents answer, and what was encrypted is gone", async () => {
    await using other = await newFolder();
    const dataFolder = join(other.path, "data");
    await restore(dataFolder, { secretKey: "none" });
    await using again = await ScriptedService.start({ dataFolder });
    expect(await again.client.ask("ada", "recall")).toContain("hello");
    expect(await readKey(join(dataFolder, "secret.key"))).not.toBe(await readKey(secretKey));
    expect((await stat(join(dataFolder, "operator.key"))).mode & 0o777).toBe(0o600);
    // The restored service is backed up like any other, also while its agents have slept since.
    expect((await again.client.call("POST", "/admin/backups")).body).toMatchObject({ agents: 1, leftOut: [] });
  }, 120_000);

  test("is restored into a database of one's own, made as the documentation says, which must be empty", async () => {
    await using other = await newFolder();
    const postgres = await startEmbeddedPostgres(join(other.path, "pg"));
    try {
      const [statements] = await documented("sql");
      const sql = statements!.replaceAll(/\bberth\b/g, "owner").replace("…", "correct");
      const admin = new pg.Client(postgres.config);
      await admin.connect();
      for (const each of sql.trim().split("\n")) await admin.query(each);
      await admin.end();
      const databaseUrl = `postgres://owner:correct@localhost/owner?host=${encodeURIComponent(join(other.path, "pg"))}`;
      const dataFolder = join(other.path, "data");
      await restore(dataFolder, { config: { dataFolder, databaseUrl } });
      const second = join(other.path, "second");
      await expect(restore(second, { config: { dataFolder: second, databaseUrl } })).rejects.toThrow(
        /database is not empty/,
      );
      await using again = await ScriptedService.start({ dataFolder, databaseUrl });
      expect(await again.client.ask("ada", "recall")).toContain("hello");
    } finally {
      await postgres.stop();
    }
  }, 120_000);

  test("is stored by restic as the documentation says, the second time what is new alone", async () => {
    await using other = await newFolder();
    const [storing, restoring] = await documented("bash");
    const env = {
      PATH: `${checkout}:${process.env.PATH}`,
      HOME: other.path,
      RESTIC_REPOSITORY: join(other.path, "repository"),
      RESTIC_PASSWORD: "correct horse",
      BERTH_URL: service.server.url,
      BERTH_API_KEY: service.client.key,
      BERTH_DATA_DIR: join(other.path, "data"),
    };
    await run("restic", ["init"], { env });
    for (let times = 0; times < 2; times++) await run("bash", ["-c", storing!], { env });
    const { stdout } = await run("restic", ["stats", "--mode", "raw-data", "--json"], { env });
    const { size } = await stat(file);
    expect(JSON.parse(stdout).total_size).toBeLessThan(size * 1.5);
    const lines = restoring!.replace(/^.*\/backups\/.*\n/m, "").replace("/safe/secret.key", secretKey);
    await run("bash", ["-c", lines], { env });
    expect(await readdir(join(other.path, "data"))).toContain("postgres");
  }, 120_000);

  test("of a newer Berth is refused before anything is written", async () => {
    await using other = await newFolder();
    const bytes = await readFile(file);
    const at = bytes.indexOf('"format":1');
    bytes.write('"format":9', at);
    await expect(
      restoreBackup(Readable.from([bytes], { objectMode: false }), {
        config: { dataFolder: other.path, databaseUrl: null },
        secretKey: "none",
        doing: () => {},
      }),
    ).rejects.toThrow(/A newer Berth made this backup/);
    expect(await readdir(other.path)).toEqual([]);
  });

  test("whose reader goes away leaves nothing behind at the next start", async () => {
    const { client, config } = service;
    await client.call("POST", "/admin/backups");
    expect(await readdir(join(config.dataFolder, "staging"))).toHaveLength(1);
    await service.restart();
    expect(await readdir(join(config.dataFolder, "staging")).catch(() => [])).toEqual([]);
  });

  test("does not replace a file", async () => {
    const { stderr } = await berth(["admin", "backup", file]).catch((error) => error);
    expect(stderr).toContain("already exists");
    await using handle = await open(file, "r");
    expect((await handle.stat()).size).toBeGreaterThan(0);
  });
});
