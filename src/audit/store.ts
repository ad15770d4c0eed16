import { randomUUID } from "node:crypto";
import { type RawBuilder, type Selectable, sql } from "kysely";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { isHidden } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import { maximumSought, type Sought } from "../core/http/paging.ts";
import type { AuditEntryState, AuditFilter, AuditPosition } from "./audit.ts";

/** The accounts' audit log. */
export class AuditStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds an entry with the current time. */
  async write(entry: Omit<AuditEntryState, "id" | "at" | "createdBy"> & AuthorIds): Promise<void> {
    await this.#database
      .insertInto("audit_entries")
      .values({
        id: randomUUID(),
        at: new Date(),
        account_id: entry.accountId,
        credential: entry.credential,
        ...authorColumns(entry),
        address: entry.address,
        operation: entry.operation,
        agent_id: entry.agentId,
        agent_name: entry.agent,
        resource: entry.resource,
        status: entry.status,
        code: entry.code,
        request_id: entry.requestId,
      })
      .execute();
  }

  /** Up to `limit` entries of the account after `after` that the caller may see, newest first. */
  async list(
    viewer: Viewer,
    limit: number,
    after: AuditPosition | null,
    { agent, outcome, search, since, until }: AuditFilter,
  ): Promise<Sought<AuditEntryState, AuditPosition>> {
    const entries = this.#database
      .selectFrom("audit_entries")
      .where("account_id", "=", viewer.accountId)
      .where(isShown(viewer))
      .$if(agent !== null, (query) => query.where("agent_name", "=", agent))
      .$if(since !== null, (query) => query.where("at", ">=", since!))
      .$if(until !== null, (query) => query.where("at", "<", until!))
      .$if(after !== null, (query) =>
        query.where(({ eb, refTuple, tuple }) => eb(refTuple("at", "id"), "<", tuple(after!.at, after!.id))),
      )
      .orderBy("at", "desc")
      .orderBy("id", "desc");
    // Indexes serve the agent alone. Read before the page, so that no entry is skipped if others are removed in between.
    const isIndexed = outcome === null && search === null;
    const last = isIndexed
      ? null
      : await entries
          .select(["at", "id"])
          .offset(maximumSought - 1)
          .limit(1)
          .executeTakeFirst();
    const rows = await entries
      .selectAll()
      .select(shownResource(viewer).as("resource"))
      .select(authorOf("audit_entries").as("createdBy"))
      .$if(outcome !== null, (query) => query.where("status", outcome === "done" ? "<" : ">=", 400))
      .$if(search !== null, (query) => query.where(contains(viewer, search!)))
      .$if(last != null, (query) =>
        query.where(({ eb, refTuple, tuple }) => eb(refTuple("at", "id"), ">=", tuple(last!.at, last!.id))),
      )
      .limit(limit)
      .execute();
    return { found: rows.map(fromRow), stoppedAt: last ?? null };
  }
}

const agentOfEntry = { name: sql`agent_name`, from: sql`at` };

/**
 * Whether the caller may see an entry. Callers see what they tried themselves, whether an agent of the name exists or not.
 */
function isShown(viewer: Viewer): RawBuilder<boolean> {
  const hidden = isHidden(viewer, agentOfEntry, { managers: false });
  return sql`(not ${hidden} or (agent_id is null and person_id = ${viewer.personId}::uuid))`;
}

/** Names in another person's private agent are its contents: no manager sees them. */
function shownResource(viewer: Viewer): RawBuilder<string | null> {
  return sql`case when not ${isHidden(viewer, agentOfEntry, { managers: true })} then resource end`;
}

/** The condition that an entry has the text in one of its words, or in its author's name. */
function contains(viewer: Viewer, text: string) {
  return sql<boolean>`position(lower(${text}) in lower(concat_ws(' ', operation, agent_name, ${shownResource(viewer)}, address, code,
    (select name from people where id = audit_entries.person_id),
    (select name from api_keys where id = audit_entries.key_id)))) > 0`;
}

function fromRow(row: Selectable<Tables["audit_entries"]> & Pick<AuditEntryState, "createdBy">): AuditEntryState {
  return {
    id: row.id,
    accountId: row.account_id,
    at: row.at,
    credential: row.credential,
    keyId: row.key_id,
    createdBy: row.createdBy,
    address: row.address,
    operation: row.operation,
    agent: row.agent_name,
    agentId: row.agent_id,
    resource: row.resource,
    status: row.status,
    code: row.code,
    requestId: row.request_id,
  };
}
