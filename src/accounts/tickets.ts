import { createHash, randomBytes } from "node:crypto";
import { type Ticket, ticketMs } from "../contract/tickets.ts";
import type { Caller } from "../core/http/caller.ts";
import { type CallerRecord, fromCallerRecord, toCallerRecord } from "../hosts/passing/caller-record.ts";

/** What a ticket stands for: its holder is that caller, with that one agent, for that one purpose. */
export interface Admission {
  caller: Caller;
  agentId: string;
  purpose: string;
  /** For files: the one path that may be read. */
  path?: string;
}

export type StoredAdmission = Omit<Admission, "caller"> & { caller: CallerRecord };

/** Tickets by their hashes. */
export interface TicketRows {
  insert(hash: string, admission: StoredAdmission, expiresAt: Date): Promise<void>;
  /** Removes a ticket; null where there is none, or it has expired. */
  take(hash: string): Promise<StoredAdmission | null>;
}

/**
 * One-time tickets, for those who cannot send a key: a browser's WebSockets, links and downloads. Good for half a
 * minute, at any server.
 */
export class Tickets {
  readonly #rows: TicketRows;
  readonly #isValid: (caller: Caller) => Promise<boolean>;

  /** `isValid` returns whether a caller's key or token is still good. */
  constructor(rows: TicketRows, isValid: (caller: Caller) => Promise<boolean>) {
    this.#rows = rows;
    this.#isValid = isValid;
  }

  async give({ caller, ...admission }: Admission): Promise<Omit<Ticket, "url">> {
    const ticket = randomBytes(32).toString("base64url");
    const expiresAt = new Date(Date.now() + ticketMs);
    await this.#rows.insert(hashOf(ticket), { ...admission, caller: toCallerRecord(caller) }, expiresAt);
    return { ticket, expiresAt: expiresAt.toISOString() };
  }

  /** Uses up a ticket; null if it is not good, or what it was given for no longer is. */
  async take(ticket: string): Promise<Admission | null> {
    const found = await this.#rows.take(hashOf(ticket));
    if (!found) return null;
    const caller = fromCallerRecord(found.caller);
    return (await this.#isValid(caller)) ? { ...found, caller } : null;
  }
}

/** The hash takes the same time whatever the ticket, so nothing can be learned by guessing. */
function hashOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64url");
}
