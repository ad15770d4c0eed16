import { randomUUID } from "node:crypto";
import type { AgentRow } from "../agents/rows.ts";
import type { Database } from "../core/database/database.ts";
import { saidIn } from "./past-store.ts";
import { retelling } from "./retelling.ts";

/** Stores a replay of the conversation `conversation` for the agent's current conversation and its runtime. */
export async function retell(transaction: Database, { id, retold }: AgentRow, conversation: number): Promise<void> {
  const before = retold === null ? null : await retoldText(transaction, retold);
  const turns = await saidIn(transaction, id, conversation, { since: null, until: null, except: null });
  await keepRetelling(transaction, id, retelling(turns, before));
}

/** Sets the replay of an earlier conversation for an agent's runtime; null: none. */
export async function keepRetelling(transaction: Database, agentId: string, text: string | null): Promise<void> {
  const retold = await insertRetelling(transaction, text);
  await transaction.updateTable("agents").set({ retold }).where("id", "=", agentId).execute();
}

/** Stores a replay of turns before `at`, by default now. Returns its id, null for null. */
export async function insertRetelling(transaction: Database, text: string | null, at?: Date): Promise<string | null> {
  if (text === null) return null;
  const id = randomUUID();
  await transaction.insertInto("retold_conversations").values({ id, text, created_at: at }).execute();
  return id;
}

/** The replay of an earlier conversation; null if it was deleted. */
export async function retoldText(database: Database, id: string): Promise<string | null> {
  const rows = database.selectFrom("retold_conversations").select("text").where("id", "=", id);
  return (await rows.executeTakeFirst())?.text ?? null;
}
