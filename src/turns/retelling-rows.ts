import { randomUUID } from "node:crypto";
import type { AgentRow } from "../agents/rows.ts";
import type { Database } from "../core/database/database.ts";
import { retelling } from "./retelling.ts";
import { saidIn } from "./store.ts";

/** Stores a replay of the previous conversation for this conversation's runtime. */
export async function retell(transaction: Database, { id, conversation, retold }: AgentRow): Promise<void> {
  const before = retold
    ? await transaction.selectFrom("retold_conversations").select("text").where("id", "=", retold).executeTakeFirst()
    : undefined;
  const turns = await saidIn(transaction, id, conversation - 1);
  await keepRetelling(transaction, id, retelling(turns, before?.text ?? null));
}

/** Sets the replay of an earlier conversation for an agent's runtime; null: none. */
export async function keepRetelling(transaction: Database, agentId: string, text: string | null): Promise<void> {
  const retold = text === null ? null : randomUUID();
  if (retold) await transaction.insertInto("retold_conversations").values({ id: retold, text: text! }).execute();
  await transaction.updateTable("agents").set({ retold }).where("id", "=", agentId).execute();
}
