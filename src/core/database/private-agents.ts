import { type RawBuilder, sql } from "kysely";
import { allows } from "../../contract/workspaces.ts";
import type { ListedAccess, Viewer } from "../http/access.ts";
import type { Database } from "./database.ts";

/** Condition on `agents`, with the same rule: the agents that the caller may use, or with `oversee` also those. */
export function visibleTo({ personId, role }: Viewer, least: ListedAccess): RawBuilder<boolean> {
  if (least === "oversee" && allows(role, "manage")) return sql`true`;
  return sql`(not agents.private or agents.person_id = ${personId}::uuid)`;
}

/** A row's name of an agent, which may be deleted, and the row's time: a moment, or the first and the last one. */
interface Naming {
  name: RawBuilder<unknown>;
  from: RawBuilder<unknown>;
  to?: RawBuilder<unknown>;
}

/** Condition for a row: whether the agent that it names is private, and not the caller's. `managers`: also for those. */
export function isHidden(
  { accountId, personId, role }: Viewer,
  { name, from, to = from }: Naming,
  { managers }: { managers: boolean },
): RawBuilder<boolean> {
  if (!managers && allows(role, "manage")) return sql`false`;
  return sql`exists (
    select from private_names hidden
    where hidden.account_id = ${accountId} and hidden.name = ${name}
      and hidden.person_id is distinct from ${personId}::uuid
      and ${to} >= hidden.since and (hidden.until is null or ${from} < hidden.until))`;
}

/**
 * Until the end of the transaction, other agents of the account do not become private. To be called before the agent's
 * row is locked: the trigger `end_calls` also changes the agents that may call it, and two that may call each other would
 * deadlock.
 */
export async function lockPrivacy(transaction: Database, agentId: string): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended('private agents of ' || account_id, 0))
    from agents where id = ${agentId}`.execute(transaction);
}
