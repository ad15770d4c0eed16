import type { Admission } from "../../accounts/tickets.ts";
import type { Caller } from "../../core/http/caller.ts";
import { type CallerRecord, fromCallerRecord, toCallerRecord } from "./caller-record.ts";

/** The header with which a server describes a request that it forwards. */
export const passportHeader = "berth-passed-on";
/** Set by a server that received a forwarded request but does not lead. It did nothing. */
export const notLeadingHeader = "berth-not-leading";

/** The maximum difference between two servers' clocks, including the transfer time. */
const goodForMs = 5 * 60_000;

/** Signs texts with a key that only the installation's servers have. */
export interface Seal {
  seal(text: string): string;
  /** Null for a text that was not sealed by a server. */
  open(sealed: string): string | null;
}

/** The facts about a forwarded request. */
export interface Passport {
  /** The client's address. */
  address: string;
  /** Null for an agent's page, whose own cookie admits the request. */
  caller: Caller | null;
  ticket: Pick<Admission, "agentId" | "path"> | null;
  /** The request's span at the forwarding server; null if it has none. */
  traceparent: string | null;
  /** The response of a connection that the request may continue although it is not stored; missing: none. */
  continues?: { id: string; turnId: string } | null;
}

interface Sealed extends Omit<Passport, "caller"> {
  caller: CallerRecord | null;
  /** The recipient's name. */
  to: string;
  request: string;
  at: number;
}

/** The passport's header, for this one request to the server `to`. */
export function sealPassport(seal: Seal, to: string, request: string, { caller, ...passport }: Passport): string {
  const sealed: Sealed = { ...passport, caller: caller && toCallerRecord(caller), to, request, at: Date.now() };
  return seal.seal(JSON.stringify(sealed));
}

/**
 * The passport of a request to `server`. Null without one, and for a forged one: the request is as any other.
 * `misdirected`: it is for another server, request or time.
 */
export function openPassport(
  seal: Seal,
  server: string,
  request: string,
  header: string | string[] | undefined,
): Passport | "misdirected" | null {
  const text = typeof header === "string" ? seal.open(header) : null;
  if (text === null) return null;
  const { to, at, request: asked, address, caller, ticket, ...rest } = JSON.parse(text) as Sealed;
  const { traceparent = null, continues = null } = rest;
  const isGood = to === server && asked === request && Math.abs(Date.now() - at) < goodForMs;
  return isGood
    ? { address, ticket, traceparent, continues, caller: caller && fromCallerRecord(caller) }
    : "misdirected";
}
