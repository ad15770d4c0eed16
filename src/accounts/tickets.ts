import { createHash, randomBytes } from "node:crypto";
import { type Ticket, ticketMs } from "../contract/tickets.ts";
import type { Caller } from "../core/http/caller.ts";
import { type CallerRecord, fromCallerRecord, toCallerRecord } from "../hosts/passing/caller-record.ts";
import type { Principals } from "./principals.ts";
import type { TicketStore } from "./ticket-store.ts";

/** What a ticket stands for: its holder is that caller, with that one agent, for that one purpose. */
export interface Admission {
  caller: Caller;
  agentId: string;
  purpose: string;
  /** For files: the one path that may be read. */
  path?: string;
}

export type StoredAdmission = Omit<Admission, "caller"> & { caller: CallerRecord };

/**
 * One-time tickets, for those who cannot send a key: a browser's WebSockets, links and downloads. Good for half a
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

  /** Uses up a ticket; null if it is not good, or what it was given for no longer is. */
  async take(ticket: string): Promise<Admission | null> {
    const found = await this.#rows.take(hashOf(ticket));
    if (!found) return null;
    const caller = fromCallerRecord(found.caller);
    return (await this.#principals.isValid(caller)) ? { ...found, caller } : null;
  }
}

/** The hash takes the same time whatever the ticket, so nothing can be learned by guessing. */
function hashOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64url");
}
