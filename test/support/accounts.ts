import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createKey } from "../../src/accounts/key-format.ts";
import { writeEntry, writeStartingEntry } from "../../src/billing/credit-entry-store.ts";
import { fromCredits } from "../../src/billing/credits.ts";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { TestClient } from "./client.ts";
import type { ScriptedService } from "./scripted-service.ts";

/** The database of a running service. The caller closes it. */
export async function databaseOf({ config }: Pick<ScriptedService, "config">): Promise<Database> {
  // It is already running, and is reused.
  const { config: pool } = await startEmbeddedPostgres(join(config.dataFolder, "postgres"));
  return openDatabase({ ...pool, max: 2 }, () => {});
}

/** Another account with a full key. */
export async function newAccount(service: ScriptedService): Promise<TestClient> {
  const database = await databaseOf(service);
  try {
    const id = randomUUID();
    const { key, ...stored } = createKey("full");
    await database.insertInto("accounts").values({ id, name: "another" }).execute();
    await writeStartingEntry(database, id, fromCredits(service.config.startingCredits));
    const row = { id: randomUUID(), account_id: id, kind: "full" as const, ...stored };
    await database.insertInto("api_keys").values(row).execute();
    return new TestClient(service.server.url, key);
  } finally {
    await database.destroy();
  }
}

/** Makes a new key for this client's account. Returns a client that uses it. */
export async function newKey(client: TestClient, asked: Record<string, unknown>): Promise<TestClient> {
  const { status, body } = await client.call("POST", "/keys", asked);
  if (status !== 201) throw new Error(`no key: ${JSON.stringify(body)}`);
  return new TestClient(client.url, body.key);
}

/** Records the usage of a model call, as if made in a turn started with the key of that name. */
export async function spend(service: ScriptedService, keyName: string, micro: number): Promise<void> {
  const database = await databaseOf(service);
  const { id: key_id, account_id } = await database
    .selectFrom("api_keys")
    .select(["id", "account_id"])
    .where("name", "=", keyName)
    .executeTakeFirstOrThrow();
  await writeEntry(database, { account_id, key_id, kind: "model", amount: -micro, model: "demo/demo" });
  await database.destroy();
}
