import { createHash, randomBytes } from "node:crypto";
import { type Ticket, ticketMs } from "../contract/tickets.ts";
import type { Caller } from "./caller.ts";

/** How many tickets may be out at once; the oldest are forgotten first. */
const maximumTickets = 10_000;

/** What a ticket stands for: its holder is that caller, with that one agent, for that one purpose. */
export interface Admission {
  caller: Caller;
  agentId: string;
  purpose: string;
  /** For files: the one path that may be read. */
  path?: string;
}

/**
 * One-time tickets, for those who cannot send a key: a browser's WebSockets, links and downloads. In memory, because they are good
 * for half a minute, and at the server that gave them, which is their agent's.
 */
export class Tickets {
  /** By the hash of the ticket, in the order in which they expire. */
  readonly #given = new Map<string, Admission & { expiresAt: number }>();

  give(admission: Admission): Omit<Ticket, "url"> {
    this.#forget();
    const ticket = randomBytes(32).toString("base64url");
    const expiresAt = Date.now() + ticketMs;
    this.#given.set(hashOf(ticket), { ...admission, expiresAt });
    return { ticket, expiresAt: new Date(expiresAt).toISOString() };
  }

  /** Uses up a ticket; null if it is not good. */
  take(ticket: string): Admission | null {
    const hash = hashOf(ticket);
    const found = this.#given.get(hash);
    this.#given.delete(hash);
    return found && found.expiresAt > Date.now() ? found : null;
  }

  #forget(): void {
    for (const [hash, { expiresAt }] of this.#given) {
      if (expiresAt > Date.now() && this.#given.size < maximumTickets) return;
      this.#given.delete(hash);
    }
  }
}

/** The hash takes the same time whatever the ticket, so nothing can be learned by guessing. */
function hashOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64url");
}
