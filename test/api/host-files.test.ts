import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { acceptOrphans } from "../../src/hosts/found-files.ts";
import { newFolder } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Which files of a data folder a server keeps, refuses to touch, or quarantines, by what its database says of them.

let folder: string;
let postgres: EmbeddedPostgres;
let databases = 0;
let stack: AsyncDisposableStack;
let service: ScriptedService;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
});
afterEach(() => stack.disposeAsync());

/** A database of its own, and its address. */
async function emptyDatabase(): Promise<{ database: Database; databaseUrl: string }> {
  const { pool, databaseUrl } = await newDatabase(postgres, folder, `host${databases++}`);
  const database = openDatabase({ ...pool, max: 2 }, () => {});
  stack.defer(() => database.destroy());
  return { database, databaseUrl };
}

/** A service on a database of its own. */
async function start(): Promise<Database> {
  stack = new AsyncDisposableStack();
  const { database, databaseUrl } = await emptyDatabase();
  service = stack.use(await ScriptedService.start({ databaseUrl }));
  return database;
}

/** The database forgets these agents, as one does that was restored from an older copy. */
async function forget(database: Database, name: string): Promise<string> {
  const { id } = await database.selectFrom("agents").select("id").where("name", "=", name).executeTakeFirstOrThrow();
  await database.deleteFrom("agents").where("id", "=", id).execute();
  await sql`delete from removals`.execute(database);
  return id;
}

const machines = async () => (await readdir(join(service.config.dataFolder, "machines"))).toSorted();
const operatorKey = () => readFile(join(service.config.dataFolder, "operator.key"), "utf8");
const orphans = async () => (await service.client.call("GET", "/admin/orphans")).body.data;

describe("a folder without machines", () => {
  test("is a new host of an empty database", async () => {
    const database = await start();
    const hostId = (await readFile(join(service.config.dataFolder, "host.id"), "utf8")).trim();
    expect(await database.selectFrom("hosts").select("id").execute()).toEqual([{ id: hostId }]);
  });

  test("is a new host of a database that knows other hosts", async () => {
    const database = await start();
    await service.client.createAgent("ada");
    const { databaseUrl, secretKey } = service.config;
    const key = secretKey ?? (await readFile(join(service.config.dataFolder, "secret.key"), "utf8")).trim();
    const second = stack.use(await ScriptedService.start({ databaseUrl, secretKey: key }));
    expect(await database.selectFrom("hosts").select("id").execute()).toHaveLength(2);
    expect(await second.server.machines.list()).toEqual([]);
  });

  test("is a known host whose agents have lost their machines", async () => {
    await start();
    await service.client.createAgent("ada");
    await service.restart(async () => {
      for (const id of service.driver.running) await service.driver.destroy(id);
    });
    expect((await service.client.call("GET", "/agents/ada")).status).toBe(200);
    const answer = await service.client.call("POST", "/agents/ada/chat", { message: "hello" });
    expect(JSON.stringify(answer.body)).toContain("machine_lost");
  });
});

describe("a folder with machines", () => {
  test("is served by the database that has all their rows", async () => {
    await start();
    await service.client.createAgent("ada");
    await service.restart();
    expect(await service.client.ask("ada", "hello")).toBe("hello");
  });

  test("is adopted silently by a database of an earlier version that has all their rows", async () => {
    const database = await start();
    await service.client.createAgent("ada");
    await service.restart(async () => void (await sql`delete from hosts`.execute(database)));
    expect(await service.client.ask("ada", "hello")).toBe("hello");
    expect(await database.selectFrom("hosts").selectAll().execute()).toHaveLength(1);
  });

  test.each(["empty", "knows other hosts"])("is not touched by a database that is another one (%s)", async (which) => {
    await start();
    await service.client.createAgent("ada");
    const before = { machines: await machines(), key: await operatorKey() };
    const other = await emptyDatabase();
    if (which !== "empty") stack.use(await ScriptedService.start({ databaseUrl: other.databaseUrl }));
    const restarted = service.restart(async () => {
      service.config.databaseUrl = other.databaseUrl;
    });
    await expect(restarted).rejects.toThrow(/no row of the database names \(1 machine\).*berth admin adopt-host/s);
    expect({ machines: await machines(), key: await operatorKey() }).toEqual(before);
    expect(service.driver.running).toHaveLength(1);
  });

  test("is not touched by an older copy of its database", async () => {
    const database = await start();
    await service.client.createAgent("ada");
    await service.client.createAgent("bea");
    const before = await machines();
    let id = "";
    const restarted = service.restart(async () => {
      id = await forget(database, "bea");
    });
    await expect(restarted).rejects.toThrow(/machine/);
    await expect(restarted).rejects.toThrow(id);
    expect(await machines()).toEqual(before);
  });

  test("loses spares and machines of deleted agents without a question", async () => {
    const database = await start();
    await service.client.createAgent("ada");
    const id = await database.selectFrom("agents").select("id").executeTakeFirstOrThrow();
    await service.restart(async () => void (await database.deleteFrom("agents").execute()));
    await expect.poll(machines).toEqual([]);
    expect(await orphans()).toEqual([]);
    expect(await database.selectFrom("removals").select("id").execute()).toEqual([id]);
  });
});

describe.each(["snapshot", "import"] as const)("a folder with a %s without a row", (kind) => {
  const idOf = async () => {
    const id = randomUUID();
    const folder = join(service.config.dataFolder, `${kind}s`, id);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "file"), "content");
    return id;
  };
  const left = async () => readdir(join(service.config.dataFolder, `${kind}s`));

  test.each(["empty", "knows other hosts"])("is not touched by a database that is another one (%s)", async (which) => {
    await start();
    const key = await operatorKey();
    const other = await emptyDatabase();
    if (which !== "empty") stack.use(await ScriptedService.start({ databaseUrl: other.databaseUrl }));
    let id = "";
    const restarted = service.restart(async () => {
      id = await idOf();
      service.config.databaseUrl = other.databaseUrl;
    });
    await expect(restarted).rejects.toThrow(`(1 ${kind})`);
    await expect(restarted).rejects.toThrow(`${kind} ${id}`);
    expect([await left(), await operatorKey()]).toEqual([[id], key]);
  });

  test("is served by a database that knows the host, and loses it to the quarantine", async () => {
    await start();
    let id = "";
    await service.restart(async () => {
      id = await idOf();
    });
    await expect.poll(orphans).toMatchObject([{ id, kind }]);
    expect(await left()).toEqual([]);
  });
});

describe("the operator's key", () => {
  test("is kept under another name by each empty database", async () => {
    await start();
    const keys = [await operatorKey()];
    for (const name of ["operator.key.previous", "operator.key.previous-2"]) {
      await service.restart(async () => {
        service.config.databaseUrl = (await emptyDatabase()).databaseUrl;
      });
      expect(await readFile(join(service.config.dataFolder, name), "utf8")).toBe(keys.at(-1));
      keys.push(await operatorKey());
    }
    expect(await readFile(join(service.config.dataFolder, "operator.key.previous"), "utf8")).toBe(keys[0]);
    expect(new Set(keys)).toHaveLength(3);
  });
});

describe("a cluster", () => {
  /** A cluster's API with these machines; the file that names it. */
  async function cluster(machines: { id: string; isUnused: boolean; isQuarantined?: true }[]): Promise<string> {
    const items = machines.map(({ id, isUnused, isQuarantined }) => {
      const observed = { id, generation: 1, restarts: 0, restores: 0, phase: "suspended", image: null, isUnused };
      const annotations = {
        "berth.dev/observed": JSON.stringify(observed),
        ...(isQuarantined ? { "berth.dev/quarantined": new Date().toISOString() } : {}),
      };
      return { metadata: { name: `berth-${id}`, labels: { "berth.dev/machine": id }, annotations } };
    });
    const api = createHttpServer((_, response) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiVersion: "apps/v1", kind: "StatefulSetList", metadata: {}, items }));
    });
    api.listen(0, "127.0.0.1");
    await once(api, "listening");
    stack.defer(() => {
      api.closeAllConnections();
      api.close();
    });
    const server = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const file = join(service.config.dataFolder, "kubeconfig");
    const config = {
      clusters: [{ name: "c", cluster: { server, "insecure-skip-tls-verify": true } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    await writeFile(file, JSON.stringify(config));
    return file;
  }

  /** A start of the service with an empty database and these machines. */
  async function restarted(machines: Parameters<typeof cluster>[0]): Promise<void> {
    const kubeconfig = await cluster(machines);
    const { databaseUrl } = await emptyDatabase();
    const image = { image: "i", imagePullPolicy: "Never", storageClass: null, kvmResource: null } as const;
    const kubernetes = { namespace: "n", kubeconfig, ...image };
    await service.restart(async () => void Object.assign(service.config, { databaseUrl, kubernetes }));
  }

  test("with machines without a row keeps the operator's key from an empty database", async () => {
    await start();
    const key = await operatorKey();
    const id = randomUUID();
    await expect(restarted([{ id, isUnused: false }])).rejects.toThrow(`machine ${id}`);
    expect(await operatorKey()).toBe(key);
    expect((await readdir(service.config.dataFolder)).filter((name) => name.startsWith("operator.key"))).toHaveLength(
      1,
    );
  });

  test("with spares and quarantined machines alone is that of an empty database", async () => {
    await start();
    const key = await operatorKey();
    await restarted([
      { id: randomUUID(), isUnused: true },
      { id: randomUUID(), isUnused: false, isQuarantined: true },
    ]);
    expect(await operatorKey()).not.toBe(key);
  });
});

describe("the quarantine", () => {
  /** Has the server start with ada's machine, which no row names, in the quarantine. */
  async function quarantine(): Promise<string> {
    const database = await start();
    await service.client.createAgent("ada", { autoSnapshot: 0 });
    await service.client.ask("ada", "remember this");
    let id = "";
    await service.restart(async () => {
      id = await forget(database, "ada");
      expect(await acceptOrphans(service.config, { accept: false })).toEqual([{ id, kind: "machine" }]);
      expect(await acceptOrphans(service.config, { accept: true })).toHaveLength(1);
    });
    await expect.poll(orphans).toHaveLength(1);
    return id;
  }

  test("takes the machines that the operator has accepted, and gives them back", async () => {
    const id = await quarantine();
    expect(await machines()).toEqual([]);
    expect(await orphans()).toEqual([
      {
        id,
        kind: "machine",
        agent: "ada",
        runtime: "claude-code",
        bytes: expect.any(Number),
        quarantinedAt: expect.any(String),
        removedAt: expect.any(String),
      },
    ]);
    const refused = await service.client.call("POST", `/admin/orphans/${id}/give-back`, { name: "x" });
    expect(refused.status).toBe(400);
    const given = await service.client.call("POST", `/admin/orphans/${id}/give-back`, { name: "found" });
    expect(given).toMatchObject({ status: 201, body: { name: "found", status: "suspended" } });
    expect(await orphans()).toEqual([]);
    expect(await service.client.ask("found", "recall")).toBe("remember this\nrecall\n");
    const again = await service.client.call("POST", `/admin/orphans/${id}/give-back`, { name: "twice" });
    expect(again.body.code).toBe("orphan_not_found");
    await service.restart();
    expect(await service.client.ask("found", "recall")).toContain("remember this");
  });

  test("keeps a machine that could not be given back", async () => {
    const id = await quarantine();
    service.driver.releaseFailures.push(new Error("no user is left for it"));
    const failed = await service.client.call("POST", `/admin/orphans/${id}/give-back`, { name: "found" });
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect([await machines(), await orphans()]).toMatchObject([[], [{ id, kind: "machine" }]]);
    await service.restart();
    expect((await service.client.call("POST", `/admin/orphans/${id}/give-back`, { name: "found" })).status).toBe(201);
    expect(await service.client.ask("found", "recall")).toBe("remember this\nrecall\n");
  });

  test("gives a machine back after a crash between its row and its files", async () => {
    const id = await quarantine();
    const given = (name: string) => service.client.call("POST", `/admin/orphans/${id}/give-back`, { name });
    const [files, copy] = [`quarantine/machine-${id}`, `copy-${id}`].map((name) =>
      join(service.config.dataFolder, name),
    ) as [string, string];
    await cp(files, copy, { recursive: true });
    expect((await given("found")).status).toBe(201);
    // As before the files were moved.
    await rm(join(service.config.dataFolder, "machines", id), { recursive: true });
    await rename(copy, files);
    expect((await given("other")).body.code).toBe("agent_exists");
    expect(await given("found")).toMatchObject({ status: 201, body: { name: "found" } });
    expect(await service.client.ask("found", "recall")).toBe("remember this\nrecall\n");
  });

  test("is emptied on request", async () => {
    const id = await quarantine();
    expect((await service.client.call("DELETE", `/admin/orphans/${id}`)).status).toBe(204);
    expect(await orphans()).toEqual([]);
    expect((await service.client.call("DELETE", `/admin/orphans/${id}`)).status).toBe(404);
  });

  test("is emptied by age alone, and named where the disk is full", async () => {
    const id = await quarantine();
    const file = join(service.config.dataFolder, `quarantine/machine-${id}/manifest.json`);
    const age = (days: number) =>
      service.restart(async () => {
        const quarantinedAt = new Date(Date.now() - days * 86_400_000).toISOString();
        await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), quarantinedAt }));
      });
    service.config.diskReserveBytes = 2 ** 60;
    await age(13);
    const refused = await service.client.call("POST", "/agents", { name: "bea" });
    expect(refused.body).toMatchObject({ code: "disk_full", message: expect.stringContaining("The quarantine holds") });
    expect(await orphans()).toHaveLength(1);
    await age(15);
    await expect.poll(orphans).toEqual([]);
  });

  test("takes a snapshot that no row names, and gives it back as an agent", async () => {
    const database = await start();
    await service.client.createAgent("ada", { autoSnapshot: 0 });
    await service.client.ask("ada", "remember this");
    const { id } = (await service.client.call("POST", "/agents/ada/snapshots", {})).body;
    await service.restart(async () => {
      await database.deleteFrom("snapshots").execute();
      await sql`delete from removals`.execute(database);
    });
    await expect.poll(orphans).toMatchObject([{ id, kind: "snapshot" }]);
    const given = await service.client.call("POST", `/admin/orphans/${id}/give-back`, { name: "found" });
    expect(given.status).toBe(201);
    expect(await service.client.ask("found", "recall")).toBe("remember this\nrecall\n");
  });
});
