import { type Selectable, sql } from "kysely";
import type { Decision } from "../contract/approval-fields.ts";
import type { Approval } from "../contract/approvals.ts";
import type { TurnEvent } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import { type Rule, ruleFor, withRule } from "../contract/permissions.ts";
import { type AuthorIds, authorColumns, authorOf, nobody } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { visibleTo } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import { lockQueueOf } from "../queue/order-store.ts";

export type ApprovalRequest = Extract<TurnEvent, { type: "response.approval.requested" }>;

/** An approval with its event's fields and its agent's name. */
export interface ApprovalState extends Omit<ApprovalRequest, "type" | "toolCallId"> {
  agent: string;
  turnId: string;
  status: Approval["status"];
  decision: Decision | null;
  message: string | null;
  decidedBy: Approval["decidedBy"];
  decidedAt: Date | null;
  requestedAt: Date;
  expiresAt: Date;
}

/** An answer that the machine may not have yet. */
export interface StoredAnswer {
  id: string;
  decision: Decision;
  message: string | null;
}

const lateMessage = "Nobody answered in time.";

export class ApprovalStore {
  readonly #database: Database;
  readonly #host: string;

  /** `host`: whose approvals `expire` denies. */
  constructor(database: Database, host: string) {
    this.#database = database;
    this.#host = host;
  }

  /** Stores an approval, to be called before its event is stored as number `seq`. Repeated calls have no effect. */
  async open(turnId: string, id: string, seq: number, expiresAt: Date): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await transaction
        .insertInto("approvals")
        .values({ turn_id: turnId, id, seq, requested_at: new Date(), expires_at: expiresAt })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await markWaiting(transaction, turnId);
    });
  }

  /** The number of approvals that a turn has asked for. */
  async count(turnId: string): Promise<number> {
    const rows = this.#database.selectFrom("approvals").where("turn_id", "=", turnId);
    return Number((await rows.select(({ fn }) => fn.countAll().as("count")).executeTakeFirstOrThrow()).count);
  }

  /**
   * Records the first answer of an open approval, and the rule that it adds to the agent's permissions. False: the
   * approval is not open.
   */
  answer(
    { turnId, id, kind, subject }: ApprovalState,
    { decision, message }: Pick<StoredAnswer, "decision" | "message">,
    author: AuthorIds,
  ): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockQueueOf(transaction, turnId); // First, as when a turn ends.
      const { rows } = await sql`
        update approvals set decision = ${decision}, message = ${message}, decided_at = now(),
          person_id = ${authorColumns(author).person_id}, key_id = ${authorColumns(author).key_id}
        where turn_id = ${turnId} and id = ${id} and decision is null
          and exists (select from turns where id = ${turnId} and status = 'running')
        returning id`.execute(transaction);
      if (rows.length === 0) return false;
      await markWaiting(transaction, turnId);
      const rule = decision === "allow-always" ? ruleFor({ kind, subject }) : null;
      if (rule) await addRule(transaction, turnId, rule);
      return true;
    });
  }

  /** Denies this host's approvals that nobody has answered in time. */
  async expire(): Promise<void> {
    const { rows } = await sql<{ turnId: string }>`
      update approvals set decision = 'deny', message = ${lateMessage}, decided_at = now(),
        person_id = ${nobody.personId}, key_id = ${nobody.keyId}
      from turns join agents on agents.id = turns.agent_id
      where turns.id = approvals.turn_id and turns.status = 'running' and agents.host = ${this.#host}
        and approvals.decision is null and approvals.expires_at <= now()
      returning approvals.turn_id as "turnId"`.execute(this.#database);
    for (const { turnId } of rows) await markWaiting(this.#database, turnId);
  }

  /** The answers of a turn's approvals. */
  async answers(turnId: string): Promise<StoredAnswer[]> {
    const rows = this.#database
      .selectFrom("approvals")
      .select(["id", "decision", "message"])
      .where("turn_id", "=", turnId)
      .where("decision", "is not", null);
    return (await rows.execute()) as StoredAnswer[];
  }

  async find(turnId: string, id: string): Promise<ApprovalState | null> {
    const row = await approvalsIn(this.#database)
      .where("approvals.turn_id", "=", turnId)
      .where("approvals.id", "=", id)
      .executeTakeFirst();
    return row ? toState(row) : null;
  }

  /** The turn's oldest open approval; null: none waits. */
  async firstOpen(turnId: string): Promise<ApprovalState | null> {
    const rows = openIn(this.#database).where("approvals.turn_id", "=", turnId);
    return (await pageOf(rows, 1, null))[0] ?? null;
  }

  /** Up to `limit` approvals of a turn after `after`, oldest first. */
  async ofTurn(turnId: string, limit: number, after: string | null): Promise<ApprovalState[]> {
    const rows = approvalsIn(this.#database).where("approvals.turn_id", "=", turnId);
    return pageOf(rows, limit, after);
  }

  /** Up to `limit` open approvals of the agents that the caller sees, or of the one named `agent`, oldest first. */
  async listOpen(viewer: Viewer, agent: string | null, limit: number, after: string | null): Promise<ApprovalState[]> {
    const rows = openIn(this.#database)
      .where("agents.account_id", "=", viewer.accountId)
      .where(visibleTo(viewer, "all"))
      .$if(agent !== null, (query) => query.where("agents.name", "=", agent!));
    return pageOf(rows, limit, after);
  }
}

function approvalsIn(database: Database) {
  return database
    .selectFrom("approvals")
    .innerJoin("turns", "turns.id", "approvals.turn_id")
    .innerJoin("agents", "agents.id", "turns.agent_id")
    .innerJoin("turn_events", (join) =>
      join.onRef("turn_events.turn_id", "=", "approvals.turn_id").onRef("turn_events.seq", "=", "approvals.seq"),
    )
    .selectAll("approvals")
    .select(["agents.name as agent", "turn_events.event", "turns.status as turnStatus"])
    .select(authorOf("approvals").as("decidedBy"));
}

function openIn(database: Database) {
  return approvalsIn(database).where("turns.status", "=", "running").where("approvals.decision", "is", null);
}

async function pageOf(rows: ReturnType<typeof approvalsIn>, limit: number, after: string | null) {
  const [id, milliseconds] = after?.split("@") ?? [];
  const found = await rows
    .$if(after !== null, (query) =>
      query.where(
        sql<boolean>`(approvals.requested_at, approvals.id)
          > (to_timestamp(${milliseconds}::bigint / 1000.0), ${id}::uuid)`,
      ),
    )
    .orderBy("approvals.requested_at")
    .orderBy("approvals.id")
    .limit(limit)
    .execute();
  return found.map(toState);
}

type ApprovalRow = Selectable<Tables["approvals"]> & {
  agent: string;
  event: TurnEvent;
  turnStatus: string;
  decidedBy: Approval["decidedBy"];
};

function toState({ event, turnStatus, ...row }: ApprovalRow): ApprovalState {
  const { type: _, toolCallId: _call, ...fields } = event as ApprovalRequest;
  const { decision } = row;
  return {
    ...fields,
    agent: row.agent,
    turnId: row.turn_id,
    status: decision !== null ? "answered" : turnStatus === "running" ? "open" : "closed",
    decision,
    message: row.message,
    decidedBy: row.decidedBy,
    decidedAt: row.decided_at,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
  };
}

async function markWaiting(database: Database, turnId: string): Promise<void> {
  await sql`
    update turns set waiting = exists (select from approvals where turn_id = ${turnId} and decision is null)
    where id = ${turnId}`.execute(database);
}

/** Throws `request_invalid` if the agent has too many rules. */
async function addRule(transaction: Database, turnId: string, rule: Rule): Promise<void> {
  const agent = await transaction
    .selectFrom("agents")
    .select(["id", "permissions"])
    .where("id", "=", ({ selectFrom }) => selectFrom("turns").select("agent_id").where("id", "=", turnId))
    .executeTakeFirst();
  if (!agent) return;
  const permissions = withRule(agent.permissions, rule);
  if (!permissions) {
    throw new BerthError("request_invalid", "decision: the agent has as many rules as are allowed; use allow or deny.");
  }
  const json = JSON.stringify(permissions);
  await transaction.updateTable("agents").set({ permissions: json }).where("id", "=", agent.id).execute();
}
