import { randomUUID } from "node:crypto";
import type { EgressOutcome, EgressRefusal } from "../contract/egress.ts";

/** An ended connection of an agent, or its refusals. */
export interface LoggedConnection {
  id: string;
  agentId: string;
  startedAt: Date;
  finishedAt: Date;
  /** Null if it was allowed. */
  reason: EgressRefusal | null;
  /** Null if it was refused. */
  outcome: EgressOutcome | null;
  host: string;
  port: number | null;
  address: string | null;
  bytesSent: number;
  bytesReceived: number;
  count: number;
}

const flushMs = 500;
/** The most entries kept while the database is unavailable. */
const maximumPending = 20_000;
const batchSize = 1_000;
/**
 * How many refusals of an agent get their own entry, refilled by one a second. Later ones share one entry per reason.
 */
const refusalBudget = 60;

/**
 * Logs connections, in batches and in the background. An agent's log volume is limited: equal refusals within a flush
 * share one entry, and above a certain rate all refusals share one entry per reason.
 */
export class ConnectionLog {
  readonly #write: (entries: LoggedConnection[]) => Promise<void>;
  readonly #warn: (message: string, error: unknown) => void;
  #pending: LoggedConnection[] = [];
  /** Pending refusals by agent, reason, host and port. */
  readonly #refusals = new Map<string, LoggedConnection>();
  readonly #budgets = new Map<string, { left: number; at: number }>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #dropped = 0;

  constructor(write: (entries: LoggedConnection[]) => Promise<void>, warn: (message: string, error: unknown) => void) {
    this.#write = write;
    this.#warn = warn;
  }

  /** Logs a connection that has ended. */
  add(entry: LoggedConnection): void {
    if (this.#pending.length >= maximumPending) this.#dropped++;
    else this.#pending.push(entry);
    this.#timer ??= setTimeout(() => void this.flush(), flushMs).unref();
  }

  refused(agentId: string, reason: EgressRefusal, host: string, port: number | null): void {
    const now = new Date();
    const known = this.#refusals.get(keyOf(agentId, reason, host, port));
    const isOne = known !== undefined || this.#spend(agentId, now.getTime());
    const place = isOne ? { host, port } : { host: "*", port: null };
    const key = keyOf(agentId, reason, place.host, place.port);
    const pending = this.#refusals.get(key);
    if (pending) {
      pending.count++;
      pending.finishedAt = now;
      return;
    }
    const nothing = { outcome: null, address: null, bytesSent: 0, bytesReceived: 0, count: 1 };
    const entry = { id: randomUUID(), agentId, startedAt: now, finishedAt: now, reason, ...place, ...nothing };
    this.#refusals.set(key, entry);
    this.add(entry);
  }

  /** Writes the pending entries. Resolves also on failure; the entries then stay pending. */
  flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushing = this.#flushing.then(() => this.#flushOnce());
    return this.#flushing;
  }

  async #flushOnce(): Promise<void> {
    const due = this.#pending;
    this.#pending = [];
    // Entries that are being written can no longer be counted up.
    this.#refusals.clear();
    for (let at = 0; at < due.length; at += batchSize) {
      try {
        await this.#write(due.slice(at, at + batchSize));
      } catch (error) {
        this.#warn("connections could not be logged; trying again", error);
        this.#pending = due.slice(at).concat(this.#pending);
        this.#timer ??= setTimeout(() => void this.flush(), flushMs * 4).unref();
        return;
      }
    }
    if (this.#dropped > 0) this.#warn("connections could not be logged", { dropped: this.#dropped });
    this.#dropped = 0;
  }

  /** Whether the agent has an entry left. Full budgets are forgotten. */
  #spend(agentId: string, now: number): boolean {
    const { left, at } = this.#budgets.get(agentId) ?? { left: refusalBudget, at: now };
    const grown = Math.min(refusalBudget, left + Math.floor((now - at) / 1000));
    if (grown < 1) return false;
    this.#budgets.set(agentId, { left: grown - 1, at: now });
    for (const [id, budget] of this.#budgets) {
      if (now - budget.at > refusalBudget * 1000) this.#budgets.delete(id);
    }
    return true;
  }
}

function keyOf(agentId: string, reason: string, host: string, port: number | null): string {
  return `${agentId} ${reason} ${port} ${host}`;
}
