import { createHash, randomBytes } from "node:crypto";
import { type Ticket, ticketMs } from "../contract/tickets.ts";
import type { Caller } from "../core/http/caller.ts";
import { type CallerRecord, fromCallerRecord, toCallerRecord } from "../hosts/passing/caller-record.ts";
import type { Principals } from "./principals.ts";
import type { TicketStore } from "./ticket-store.ts";

/** A ticket's rights: those of its holder, for one agent and one purpose. */
export interface Admission {
  caller: Caller;
  agentId: string;
  purpose: string;
  /** For files: the only path that may be read. */
  path?: string;
}

export type StoredAdmission = Omit<Admission, "caller"> & { caller: CallerRecord };

/**
 * One-time tickets for clients that cannot send a key: a browser's WebSockets, links and downloads. Valid for half a
 * minute, at any server.
 */
export class Tickets {
  readonly #rows: TicketStore;
  readonly #principals: Principals;

  constructor(rows: TicketStore, principals: Principals) {
    this.#rows = rows;
    this.#principals = principals;
  }

  async give({ caller, ...admission }: Admission): Promise<Omit<Ticket, "url">> {
    const ticket = randomBytes(32).toString("base64url");
    const expiresAt = new Date(Date.now() + ticketMs);
    await this.#rows.insert(hashOf(ticket), { ...admission, caller: toCallerRecord(caller) }, expiresAt);
    return { ticket, expiresAt: expiresAt.toISOString() };
  }

  /** Uses up a ticket; null if it is invalid, or if its holder or agent no longer is. */
  async take(ticket: string): Promise<Admission | null> {
    const found = await this.#rows.take(hashOf(ticket));
    if (!found) return null;
    const caller = fromCallerRecord(found.caller);
    return (await this.#principals.isValid(caller)) ? { ...found, caller } : null;
  }
}

/** The hash takes the same time whatever the ticket, so guesses reveal nothing. */
function hashOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64url");
}
