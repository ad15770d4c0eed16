import { type Selectable, sql } from "kysely";
import type { UsageState } from "../billing/usage.ts";
import type { Outcome, SequencedEvent, TurnEvent, WhenBusy } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import { usualLimits } from "../contract/event-log.ts";
import { maximumQueue, maximumQueueOfKey } from "../contract/queue.ts";
import { beganTurn, requireConversation } from "../conversations/activity-store.ts";
import { authorColumns } from "../core/database/authors.ts";
import { type Database, isDuplicate } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import { announce, continueQueue, lockQueueOf } from "../queue/order-store.ts";
import { useUploads } from "../uploads/store.ts";
import { storeAppends, TurnAppends } from "./append-store.ts";
import { type Diffs, storeDiffs } from "./changes-store.ts";
import { maximumOpenTools, maximumToolId, type TurnProgress } from "./running-turn.ts";
import type { Steered } from "./steering.ts";
import { AgentChanged, type AgentMoment, type TurnState, turnInProgress } from "./turn.ts";
import type { TurnAgent } from "./turns.ts";

/** The most events of a turn that are read at once, and their size in bytes of JSON. */
const wholeLimits = { events: 4_000, size: 256 * 1024 };

/** The part of a turn that is stored at its end. */
interface TurnEnd {
  events: SequencedEvent[];
  status: Outcome;
  /** Null: unchanged. */
  usage: UsageState | null;
  diffs: Diffs | null;
  /** Whether an end other than `completed` holds the agent's queue. */
  holdsQueue: boolean;
}

export class TurnStore {
  readonly #database: Database;
  readonly #host: string;
  readonly #appends: TurnAppends;

  /** `host`: whose running turns `running` returns. */
  constructor(database: Database, host: string) {
    this.#database = database;
    this.#host = host;
    this.#appends = new TurnAppends(database);
  }

  /**
   * Stores a new turn with its first event. While another turn runs, a message that can wait is queued. Returns the stored
   * turn. Throws `turn_in_progress`, with the running turn's id in `details`, `queue_full`, and `AgentChanged` if the
   * agent's row differs from `moment`.
   */
  async insert(given: TurnState, moment: AgentMoment, first: SequencedEvent, whenBusy: WhenBusy): Promise<TurnState> {
    try {
      return await this.#database.transaction().execute(async (transaction) => {
        // First, so that a concurrent suspension either comes before it or sees it.
        const agent = await transaction
          .updateTable("agents")
          .set({ last_active_at: new Date() })
          .where("id", "=", given.agentId)
          .where("desired", "!=", "deleted")
          .returning(["conversation", "runtime", "restores", "queue_length"])
          .executeTakeFirst();
        if (!agent) throw new BerthError("agent_deleting", "The agent is being deleted.");
        const { conversation, runtime, restores } = moment;
        const isSame = agent.conversation === conversation && agent.runtime === runtime && agent.restores === restores;
        if (!isSame) throw new AgentChanged();
        if (given.namesConversation) await requireConversation(transaction, given.agentId, given.conversation);
        const waits = whenBusy !== "reject" && (await this.#runningOf(given.agentId, transaction)) !== null;
        if (waits) await requireRoom(transaction, given, agent.queue_length);
        const turn: TurnState = waits ? { ...given, status: "queued", queuedAt: new Date() } : given;
        await transaction
          .insertInto("turns")
          .values({
            id: turn.id,
            agent_id: turn.agentId,
            ...authorColumns(turn),
            conversation: turn.conversation,
            names_conversation: turn.namesConversation,
            message: turn.message,
            attachments: JSON.stringify(turn.attachments),
            instructions: turn.instructions,
            functions: turn.functions === null ? null : JSON.stringify(turn.functions),
            model: turn.model,
            effort: turn.effort,
            status: turn.status,
            usage: JSON.stringify(turn.usage),
            asked_by: turn.asked?.byTurn ?? null,
            first_turn: turn.asked?.firstTurn ?? null,
            depth: turn.asked?.depth ?? null,
            on_ask: turn.onAsk,
            limits: turn.limits === null ? null : JSON.stringify(turn.limits),
            output_schema: turn.outputSchema === null ? null : JSON.stringify(turn.outputSchema),
            queued_at: turn.queuedAt,
            // The same, so that a turn that never begins is recognized.
            ...(turn.queuedAt && { created_at: turn.queuedAt }),
            place: waits ? placeIn(turn.agentId, whenBusy) : null,
            interrupts: waits && whenBusy === "interrupt",
          })
          .execute();
        await transaction.insertInto("turn_events").values(toRow(turn.id, first)).execute();
        await useUploads(transaction, turn.agentId, turn.attachments);
        if (waits) await announce(transaction, turn.agentId);
        else await beganTurn(transaction, turn);
        return turn;
      });
    } catch (error) {
      if (!isDuplicate(error, "one_running_turn")) throw error;
      throw turnInProgress(await this.#runningOf(given.agentId, this.#database));
    }
  }

  async #runningOf(agentId: string, database: Database): Promise<string | null> {
    const rows = database.selectFrom("turns").select("id").where("agent_id", "=", agentId);
    return (await rows.where("status", "=", "running").executeTakeFirst())?.id ?? null;
  }

  async lastKeyOf(agentId: string): Promise<string | null> {
    const all = this.#database.selectFrom("turns").select("key_id").where("agent_id", "=", agentId);
    const rows = all.where("status", "!=", "queued");
    const last = await rows.orderBy("created_at", "desc").orderBy("id", "desc").limit(1).executeTakeFirst();
    return last?.key_id ?? null;
  }

  async find(agentId: string, turnId: string): Promise<TurnState | null> {
    const row = await this.#database
      .selectFrom("turns")
      .selectAll()
      .where("agent_id", "=", agentId)
      .where("id", "=", turnId)
      .executeTakeFirst();
    return row ? toTurnState(row) : null;
  }

  /** The turns running on this host, or one of them, each with its agent's settings. */
  async running(turnId: string | null = null): Promise<{ turn: TurnState; agent: TurnAgent }[]> {
    const rows = await this.#database
      .selectFrom("turns")
      .innerJoin("agents", "agents.id", "turns.agent_id")
      .selectAll("turns")
      .select(["agents.instructions as agent_instructions", "agents.mcp_servers", "agents.agents as other_agents"])
      .select(["agents.acp", "agents.effort as agent_effort"])
      .select(["agents.schedules", "agents.fallback_models", "agents.auto_snapshot", "agents.permissions"])
      .select(["agents.max_credits", "agents.max_minutes", "agents.max_tool_calls"])
      .where("turns.status", "=", "running")
      .where("agents.host", "=", this.#host)
      .$if(turnId !== null, (query) => query.where("turns.id", "=", turnId!))
      .execute();
    return rows.map((row) => ({
      turn: toTurnState(row),
      agent: {
        instructions: row.agent_instructions,
        effort: row.agent_effort,
        acp: row.acp,
        mcpServers: row.mcp_servers,
        agents: row.other_agents,
        schedules: row.schedules,
        fallbackModels: row.fallback_models,
        autoSnapshot: row.auto_snapshot,
        permissions: row.permissions,
        maxCredits: row.max_credits,
        maxMinutes: row.max_minutes,
        maxToolCalls: row.max_tool_calls,
      },
    }));
  }

  /** A page of the turn's events after `after`, oldest first, limited in number and size; empty after the last. */
  async events(turnId: string, after: number): Promise<SequencedEvent[]> {
    const { batchEvents, batchSize } = usualLimits;
    // The database sums up event sizes, to avoid reading a page of large events completely.
    const { rows } = await sql<SequencedEvent>`
      select seq, event from (
        select seq, event, sum(octet_length(event::text)) over (order by seq) - octet_length(event::text) as before
        from (
          select seq, event from turn_events where turn_id = ${turnId} and seq > ${after} order by seq limit ${batchEvents}
        ) page
      ) sized
      where before < ${batchSize} order by seq`.execute(this.#database);
    return rows;
  }

  /** All events of each of the turns, by its id. Turns with many or large ones are left out. */
  async wholeEvents(turnIds: readonly string[]): Promise<Map<string, TurnEvent[]>> {
    const { rows } = await sql<{ id: string; events: TurnEvent[] }>`
      select asked.id, json_agg(page.event order by page.seq) as events
      from unnest(${turnIds}::uuid[]) as asked(id), lateral (
        select seq, event from turn_events where turn_id = asked.id order by seq limit ${wholeLimits.events + 1}
      ) page
      group by asked.id
      having count(*) <= ${wholeLimits.events} and sum(octet_length(page.event::text)) <= ${wholeLimits.size}`.execute(
      this.#database,
    );
    return new Map(rows.map(({ id, events }) => [id, events]));
  }

  /**
   * The number of the turn's last event, the number of its `response.in_progress` (null before it), the ids of tools
   * that have started and not completed, the last function call for its client, the approvals that are not resolved, and
   * what counts for its limits.
   */
  async progress(turnId: string): Promise<{ last: number } & Required<TurnProgress>> {
    const { rows } = await sql<{ last: number } & Required<TurnProgress>>`
      select coalesce(max(seq), 0) as last,
        min(seq) filter (where event ->> 'type' = 'response.in_progress') as head, array(
        select event ->> 'id' from turn_events where turn_id = ${turnId} and event ->> 'type' = 'response.tool_call.started'
          and length(event ->> 'id') <= ${maximumToolId}
        except
        select event ->> 'id' from turn_events where turn_id = ${turnId} and event ->> 'type' = 'response.tool_call.completed'
        limit ${maximumOpenTools}
      ) as "openTools", (
        select json_build_object('seq', seq, 'callId', event ->> 'callId') from turn_events
        where turn_id = ${turnId} and event ->> 'type' = 'response.function_call' order by seq desc limit 1
      ) as "functionCall", array(
        select event ->> 'id' from turn_events where turn_id = ${turnId} and event ->> 'type' = 'response.approval.requested'
        except
        select event ->> 'id' from turn_events where turn_id = ${turnId} and event ->> 'type' = 'response.approval.resolved'
      ) as "openApprovals",
      count(*) filter (where event ->> 'type' = 'response.tool_call.started')::integer as "toolCalls",
      coalesce(array_agg(event ->> 'reason') filter (where event ->> 'type' = 'response.warning'), '{}') as warned,
      coalesce((select ${activeMsOf} from turns where id = ${turnId}), 0) as "activeMs"
      from turn_events where turn_id = ${turnId}`.execute(this.#database);
    return rows[0]!;
  }

  async askedFor(firstTurn: string): Promise<{ turns: number; microCredits: number }> {
    const { rows } = await sql<{ turns: string; credits: string }>`
      select count(*) as turns, coalesce(sum((usage ->> 'microCredits')::bigint), 0) as credits
      from turns where first_turn = ${firstTurn}`.execute(this.#database);
    return { turns: Number(rows[0]!.turns), microCredits: Number(rows[0]!.credits) };
  }

  /** The turn of the agent that a message has reached, by the id of the message's request. */
  async steered(agentId: string, id: string): Promise<Steered | null> {
    const row = await this.#database
      .selectFrom("turn_events")
      .innerJoin("turns", "turns.id", "turn_events.turn_id")
      .selectAll("turns")
      .select("turn_events.seq")
      .where(sql<boolean>`event ->> 'type' = 'response.steered' and event ->> 'id' = ${id}`)
      .where("turns.agent_id", "=", agentId)
      .executeTakeFirst();
    return row ? { turn: toTurnState(row), after: row.seq - 1 } : null;
  }

  /** Removes a turn that was not announced to any reader. */
  async remove(turnId: string): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const queue = await lockQueueOf(transaction, turnId);
      await transaction.deleteFrom("turns").where("id", "=", turnId).execute();
      if (queue && queue.length > 0) await announce(transaction, queue.agentId);
    });
  }

  /** Sets the model of a turn that has waited. */
  async setModel(turnId: string, model: string | null): Promise<void> {
    await this.#database.updateTable("turns").set({ model }).where("id", "=", turnId).execute();
  }

  /** A recent one may be about to be referenced. */
  async sweepRetellings(): Promise<void> {
    await sql`
      delete from retold_conversations retold where created_at < now() - interval '1 day'
        and not exists (select from agents where agents.retold = retold.id)
        and not exists (select from conversations where conversations.retold = retold.id)
        and not exists (select from conversations where beginning = retold.id)
        and not exists (select from snapshots where snapshots.retold = retold.id)`.execute(this.#database);
  }

  /** Stores events and the usage so far (null: unchanged). Repeated calls have no effect. */
  append(turnId: string, events: SequencedEvent[], usage: UsageState | null): Promise<void> {
    return this.#appends.add({ id: turnId, usage, events });
  }

  /**
   * Stores a turn's last events, its outcome and usage, and continues the agent's queue. Atomic, and repeated calls have no
   * effect. Returns the id of the turn that began; null: none did.
   */
  end(turnId: string, { diffs, holdsQueue, ...ended }: TurnEnd): Promise<string | null> {
    return this.#database.transaction().execute(async (transaction) => {
      const queue = await lockQueueOf(transaction, turnId);
      if (!queue) return null; // The agent was deleted.
      await storeAppends(transaction, [JSON.stringify({ id: turnId, ...ended })]);
      if (diffs) await storeDiffs(transaction, turnId, diffs);
      if (queue.length === 0) return null;
      return continueQueue(transaction, queue, holdsQueue ? ended.status : "completed");
    });
  }
}

/** How long a turn has run without the time that it waited for approvals, in milliseconds. */
const activeMsOf = sql<number>`1000 * extract(epoch from now() - turns.created_at - coalesce((
  select sum(upper(span) - lower(span)) from (
    select unnest(range_agg(tstzrange(requested_at, least(coalesce(decided_at, now()), now())))) as span
    from approvals where turn_id = turns.id
  ) spans), interval '0'))::float8`;

export function toTurnState(row: Selectable<Tables["turns"]>): TurnState {
  return {
    id: row.id,
    agentId: row.agent_id,
    keyId: row.key_id,
    personId: row.person_id,
    conversation: row.conversation,
    namesConversation: row.names_conversation,
    message: row.message,
    attachments: row.attachments,
    instructions: row.instructions,
    functions: row.functions,
    model: row.model,
    effort: row.effort,
    status: row.status,
    usage: row.usage,
    onAsk: row.on_ask,
    limits: row.limits,
    outputSchema: row.output_schema,
    waiting: row.waiting,
    queuedAt: row.queued_at,
    asked: row.asked_by === null ? null : { byTurn: row.asked_by, firstTurn: row.first_turn!, depth: row.depth! },
  };
}

/** Throws `queue_full`. */
async function requireRoom(transaction: Database, { agentId, keyId }: TurnState, length: number): Promise<void> {
  if (length >= maximumQueue) {
    const message = `${maximumQueue} messages wait for the agent, which is the most. Remove one, or wait.`;
    throw new BerthError("queue_full", message);
  }
  const { count } = await transaction
    .selectFrom("turns")
    .innerJoin("api_keys", "api_keys.id", "turns.key_id")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("turns.agent_id", "=", agentId)
    .where("turns.status", "=", "queued")
    .where("api_keys.id", "=", keyId)
    .where("api_keys.kind", "=", "agent")
    .executeTakeFirstOrThrow();
  if (Number(count) < maximumQueueOfKey) return;
  throw new BerthError("queue_full", `${maximumQueueOfKey} messages of the external key wait, which is the most.`);
}

/** The last place in an agent's queue, or the first for a message that interrupts. */
function placeIn(agentId: string, whenBusy: WhenBusy) {
  const bound = whenBusy === "interrupt" ? sql`min(place) - 1` : sql`max(place) + 1`;
  return sql<number>`(
    select coalesce(${bound}, 1) from turns where agent_id = ${agentId} and status = 'queued')`;
}

function toRow(turnId: string, { seq, event }: SequencedEvent) {
  return { turn_id: turnId, seq, event: JSON.stringify(event) };
}
