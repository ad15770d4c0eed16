import { type RawBuilder, type Selectable, sql, type Transaction } from "kysely";
import type { UsageByDay, UsageGroup, UsageSum } from "../contract/billing.ts";
import { BerthError } from "../contract/errors.ts";
import type { Database } from "../core/database/database.ts";
import { isHidden } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import type { AccountState, EntryFilter, EntryState, UsedSum } from "./billing.ts";
import { writeEntry } from "./credit-entry-store.ts";
import { toCredits } from "./credits.ts";

/** A grant by the operator. */
interface Grant {
  accountId: string;
  /** Micro-credits; negative: withdrawn. */
  micro: number;
  note: string | null;
  /** The same in each attempt, so that the grant is made only once. */
  reference: string;
}

/** Accounts' credits and usage, for their owners and the operator. */
export class BillingStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The account; null if there is none with this id. */
  async account(id: string): Promise<AccountState | null> {
    const row = await selectAccounts(this.#database).where("id", "=", id).executeTakeFirst();
    return row ? toState(row) : null;
  }

  /** Up to `limit` accounts after the account `after`, oldest first. */
  async accounts(limit: number, after: string | null): Promise<AccountState[]> {
    const rows = await selectAccounts(this.#database)
      .$if(after !== null, (query) =>
        query.where(sql<boolean>`(created_at, id) > (select created_at, id from accounts where id = ${after})`),
      )
      .orderBy("created_at")
      .orderBy("id")
      .limit(limit)
      .execute();
    return rows.map(toState);
  }

  /** Sets limits in micro-credits; null: none. */
  async change(
    accountId: string,
    { monthlyLimit, lowCredits }: Partial<Pick<AccountState, "monthlyLimit" | "lowCredits">>,
  ): Promise<void> {
    const text = (micro: number | null) => (micro === null ? null : String(micro));
    await this.#database
      .updateTable("accounts")
      .set({
        ...(monthlyLimit !== undefined && { monthly_limit: text(monthlyLimit) }),
        ...(lowCredits !== undefined && { low_credits: text(lowCredits) }),
      })
      .where("id", "=", accountId)
      .execute();
  }

  /** Throws `request_invalid` if the balance would fall below 0 or exceed the maximum. */
  async grant({ accountId, micro, note, reference }: Grant): Promise<EntryState> {
    return this.#database.transaction().execute(async (transaction) => {
      const account = await selectAccounts(transaction).where("id", "=", accountId).forNoKeyUpdate().executeTakeFirst();
      const made = await findGrant(transaction, reference);
      if (made) return made;
      requireBalance(Number(account!.balance), micro);
      await writeEntry(transaction, { account_id: accountId, kind: "grant", amount: micro, note, reference });
      return (await findGrant(transaction, reference))!;
    });
  }

  /**
   * Up to `limit` of the account's entries numbered below `before`, newest first. Numbers ascend with time, but for clocks
   * that were set back: those at the ends of the period, with a day more, spare reading the rest of the ledger.
   */
  async entries(
    viewer: Viewer,
    { agent, kind, since, until }: EntryFilter,
    limit: number,
    before: number | null,
  ): Promise<EntryState[]> {
    const { accountId } = viewer;
    const hidden = isHidden(viewer, { name: sql`agent_name`, from: sql`at` }, { managers: false });
    const numberAt = this.#database.selectFrom("credit_entries").select("number").where("account_id", "=", accountId);
    const rows = await this.#database
      .selectFrom("credit_entries")
      .selectAll()
      .select(hidden.as("hidden"))
      .where("account_id", "=", accountId)
      .$if(agent !== null, (query) => query.where("agent_name", "=", agent).where(({ not }) => not(hidden)))
      .$if(kind !== null, (query) => query.where("kind", "=", kind!))
      .$if(since !== null, (query) =>
        query
          .where("at", ">=", since!)
          .where("number", ">=", numberAt.where("at", ">=", daysLater(since!, -1)).orderBy("at").limit(1)),
      )
      .$if(until !== null, (query) =>
        query
          .where("at", "<", until!)
          .where("number", "<=", numberAt.where("at", "<", daysLater(until!, 1)).orderBy("at", "desc").limit(1)),
      )
      .$if(before !== null, (query) => query.where("number", "<", String(before)))
      .orderBy("number", "desc")
      .limit(limit)
      .execute();
    return rows.map(({ hidden: isUnnamed, ...row }) => (isUnnamed ? unnamed(fromRow(row)) : fromRow(row)));
  }

  /** Usage since the beginning of a day by day, agent and model: newest day first, and within a day by cost. */
  async usageByDay(
    viewer: Viewer,
    since: Date,
    limit: number,
  ): Promise<(UsedSum & Pick<UsageByDay, "day" | "agent" | "model">)[]> {
    const { rows } = await sql<SumRow & Pick<UsageByDay, "day" | "agent" | "model">>`
      select ${dayOf} as day, agent_name as agent, model, ${sums} from (
        select day, ${agentFor(viewer)} as agent_name, ${otherColumns} from credit_usage
        where account_id = ${viewer.accountId} and day >= ${utcDay(since)}
      ) parts
      group by 1, 2, 3 order by 1 desc, micro desc, 2, 3 limit ${limit}`.execute(this.#database);
    return rows.map((row) => ({ day: row.day, agent: row.agent, model: row.model, ...toSum(row) }));
  }

  /** Summed usage in a period. Days are sorted newest first, other groups by cost. */
  async usage(
    viewer: Viewer,
    by: UsageGroup,
    { since, until }: { since: Date; until: Date },
    limit: number,
  ): Promise<(UsedSum & Pick<UsageSum, "group" | "name">)[]> {
    const { rows } = await sql<SumRow & Pick<UsageSum, "group" | "name">>`
      select used.*, key.name from (
        select ${groups[by]} as "group", ${sums} from (
          select day, ${by === "agent" ? agentFor(viewer) : sql`agent_name`} as agent_name, ${otherColumns}
          from (${usedIn(viewer.accountId, since, until)}) used
        ) parts
        group by 1
      ) used left join api_keys key on ${by} = 'key' and key.id::text = used.group
      order by ${by === "day" ? sql`used.group` : sql`used.micro`} desc, used.group limit ${limit}`.execute(
      this.#database,
    );
    return rows.map((row) => ({ group: row.group, name: row.name, ...toSum(row) }));
  }
}

const dayMs = 24 * 60 * 60_000;
const otherColumns = sql.raw("model, key_id, amount, input, output, cache_read, cache_write, reasoning, seconds");
const usedColumns = sql`agent_name, ${otherColumns}`;

/** A day's agent; null for another person's private one. */
function agentFor(viewer: Viewer): RawBuilder<string | null> {
  const from = sql`day::timestamp at time zone 'UTC'`;
  const to = sql`(day + 1)::timestamp at time zone 'UTC'`;
  return sql`case when not ${isHidden(viewer, { name: sql`agent_name`, from, to }, { managers: false })} then agent_name end`;
}

/** An entry of another person's private agent: its amount counts for all. */
function unnamed(entry: EntryState): EntryState {
  return { ...entry, agentId: null, agentName: null, turnId: null, keyId: null };
}

function daysLater(at: Date, days: number): Date {
  return new Date(at.getTime() + days * dayMs);
}

function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** Usage in a period: sums of complete days, and entries of the partial days at its ends. */
function usedIn(accountId: string, since: Date, until: Date): RawBuilder<unknown> {
  const first = new Date(Math.ceil(since.getTime() / dayMs) * dayMs);
  const last = new Date(Math.floor(until.getTime() / dayMs) * dayMs);
  const [from, to] = first < last ? [first, last] : [until, until];
  return sql`
    select day, ${usedColumns} from credit_usage
    where account_id = ${accountId} and day >= ${utcDay(from)} and day < ${utcDay(to)}
    union all
    select (at at time zone 'UTC')::date as day, ${usedColumns} from entry_usage
    where account_id = ${accountId} and (at >= ${since} and at < ${from} or at >= ${to} and at < ${until})`;
}

const dayOf = sql`to_char(day, 'YYYY-MM-DD')`;
const groups = { day: dayOf, agent: sql`agent_name`, model: sql`model`, key: sql`key_id::text` };

/** Sums of bigints and decimals, which the driver returns as text. */
interface SumRow {
  micro: string;
  input: string;
  output: string;
  cache_read: string;
  cache_write: string;
  reasoning: string;
  seconds: string;
}

const sums = sql`-sum(amount) as micro, sum(input) as input, sum(output) as output, sum(cache_read) as cache_read,
  sum(cache_write) as cache_write, sum(reasoning) as reasoning, sum(seconds) as seconds`;

function toSum(row: SumRow): UsedSum {
  return {
    micro: Number(row.micro),
    tokens: {
      input: Number(row.input),
      output: Number(row.output),
      reasoning: Number(row.reasoning),
      cacheRead: Number(row.cache_read),
      cacheWrite: Number(row.cache_write),
    },
    seconds: Number(row.seconds),
  };
}

function selectAccounts(database: Database) {
  return database
    .selectFrom("accounts")
    .select(["id", "name", "balance", "held", "monthly_limit", "low_credits"])
    .select(sql<string>`spent_this_month(accounts)`.as("spent"));
}

type AccountRow = Pick<
  Selectable<Tables["accounts"]>,
  "id" | "name" | "balance" | "held" | "monthly_limit" | "low_credits"
>;

function toState(row: AccountRow & { spent: string }): AccountState {
  return {
    id: row.id,
    name: row.name,
    balance: Number(row.balance),
    held: Number(row.held),
    spentThisMonth: Number(row.spent),
    monthlyLimit: row.monthly_limit === null ? null : Number(row.monthly_limit),
    lowCredits: row.low_credits === null ? null : Number(row.low_credits),
  };
}

function requireBalance(balance: number, micro: number): void {
  if (micro < 0 && balance + micro < 0) {
    const most = toCredits(Math.max(0, balance));
    throw new BerthError("request_invalid", `credits: the account has ${most}; no more than that can be withdrawn.`);
  }
  if (balance + micro > Number.MAX_SAFE_INTEGER) {
    const most = toCredits(Number.MAX_SAFE_INTEGER);
    throw new BerthError("request_invalid", `credits: the account would have more than ${most}, which is the maximum.`);
  }
}

async function findGrant(transaction: Transaction<Tables>, reference: string): Promise<EntryState | null> {
  const entries = transaction.selectFrom("credit_entries").selectAll();
  const row = await entries.where("kind", "=", "grant").where("reference", "=", reference).executeTakeFirst();
  return row ? fromRow(row) : null;
}

function fromRow(row: Selectable<Tables["credit_entries"]>): EntryState {
  return {
    number: Number(row.number),
    at: row.at,
    kind: row.kind,
    amount: Number(row.amount),
    balanceAfter: Number(row.balance_after),
    agentId: row.agent_id,
    agentName: row.agent_name,
    turnId: row.turn_id,
    keyId: row.key_id,
    model: row.model,
    tokens: row.tokens,
    seconds: row.seconds === null ? null : Number(row.seconds),
    memoryMiB: row.memory_mib,
    note: row.note,
    listed: row.listed === null ? null : Number(row.listed),
  };
}
