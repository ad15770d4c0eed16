import type {
  AccountCredits,
  CreditEntry,
  EntryKind,
  UsageByDay,
  UsageGroup,
  UsageReport,
  UsageSum,
} from "../contract/billing.ts";
import { BerthError } from "../contract/errors.ts";
import { toCredits } from "./credits.ts";
import type { TokenCounts } from "./ledger.ts";

/** What an account has, in micro-credits. */
export interface AccountState {
  id: string;
  name: string;
  balance: number;
  held: number;
  spentThisMonth: number;
  monthlyLimit: number | null;
}

/** An entry of the ledger as it is stored. */
export interface EntryState {
  number: number;
  at: Date;
  kind: EntryKind;
  /** Micro-credits, as the balance. */
  amount: number;
  balanceAfter: number;
  agentId: string | null;
  agentName: string | null;
  turnId: string | null;
  keyId: string | null;
  model: string | null;
  tokens: TokenCounts | null;
  seconds: number | null;
  memoryMiB: number | null;
  note: string | null;
}

/** Which entries of an account are asked for; null: all. */
export interface EntryFilter {
  agent: string | null;
  kind: EntryKind | null;
  since: Date | null;
  until: Date | null;
}

/** The tokens that accounts are told of; what else a provider counts is in the price alone. */
type ReportedTokens = Required<Omit<TokenCounts, "cacheWriteHour" | "webSearches">>;

/** A sum of what was used. */
export interface UsedSum {
  micro: number;
  tokens: ReportedTokens;
  seconds: number;
}

const noTokens: ReportedTokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const yearMs = 366 * 24 * 3_600_000;

/** The beginning of the calendar month of UTC. */
export function monthOf(time: Date): Date {
  return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()));
}

/** The time that a report is about: this month where nothing was asked. Throws `request_invalid`. */
export function spanOf(since: string | undefined, until: string | undefined, now: Date): { since: Date; until: Date } {
  const end = until === undefined ? now : new Date(until);
  const begin = since === undefined ? monthOf(end) : new Date(since);
  if (begin > end) throw new BerthError("request_invalid", "since: this is after `until`.");
  if (end.getTime() - begin.getTime() > yearMs) {
    throw new BerthError("request_invalid", "since: this is more than a year before `until`.");
  }
  return { since: begin, until: end };
}

/** The account as the operator sees it. */
export function toAccountCredits(account: AccountState): AccountCredits {
  return {
    accountId: account.id,
    name: account.name,
    balance: toCredits(account.balance),
    held: toCredits(account.held),
    spentThisMonth: toCredits(account.spentThisMonth),
    monthlyLimit: account.monthlyLimit === null ? null : toCredits(account.monthlyLimit),
  };
}

/** The entry as its owner sees it. */
export function toEntryView(entry: EntryState): CreditEntry {
  return {
    number: entry.number,
    at: entry.at.toISOString(),
    kind: entry.kind,
    credits: toCredits(entry.amount),
    balance: toCredits(entry.balanceAfter),
    agent: entry.agentName,
    agentId: entry.agentId,
    turnId: entry.turnId,
    keyId: entry.keyId,
    model: entry.model,
    tokens: entry.tokens && toTokens({ ...noTokens, ...entry.tokens }),
    machineSeconds: entry.seconds,
    memoryMiB: entry.memoryMiB,
    note: entry.note,
  };
}

export function toUsageByDay(row: UsedSum & Pick<UsageByDay, "day" | "agent" | "model">): UsageByDay {
  return { day: row.day, agent: row.agent, model: row.model, ...toUsed(row) };
}

export function toUsageReport(
  by: UsageGroup,
  { since, until }: { since: Date; until: Date },
  rows: readonly (UsedSum & Pick<UsageSum, "group" | "name">)[],
): UsageReport {
  const data = rows.map((row) => ({ group: row.group, name: row.name, ...toUsed(row) }));
  return { by, since: since.toISOString(), until: until.toISOString(), data };
}

function toUsed({ micro, tokens, seconds }: UsedSum) {
  return { credits: toCredits(micro), ...toTokens(tokens), machineSeconds: seconds };
}

function toTokens({ input, output, cacheRead, cacheWrite, reasoning }: ReportedTokens) {
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning,
  };
}
