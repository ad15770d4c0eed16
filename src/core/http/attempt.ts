import { createHash } from "node:crypto";
import type { ErrorCode } from "../../contract/errors.ts";

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  accountId: string;
  /** The API key's id; null for a token. Idempotency keys are scoped to a credential. */
  keyId: string | null;
  key: string;
  /** See `fingerprintOf`. */
  fingerprint: Buffer;
}

/** Tells a handler about earlier attempts, so that no work is done twice. */
export interface Attempt {
  /** The id of what the request creates, the same in each attempt. */
  resourceId: string;
  /**
   * The earlier attempt. `none`: there was none. `unknown`: it ended without an answer, perhaps after the work. `done`:
   * its answer was a stream; only the stream is to be produced again, not the work.
   */
  earlier: "none" | "unknown" | "done";
  /** Gives what the request creates another id, in this attempt and all later ones; absent where there are none. */
  moveTo?: (resourceId: string) => Promise<void>;
}

/** The request's id, by which a later attempt finds what this one has begun; null where there are no later ones. */
export function retriedAs({ resourceId, moveTo }: Attempt): string | null {
  return moveTo ? resourceId : null;
}

/** The right to do a request's work and store its answer, until another request takes over. */
export interface Claim {
  request: KeyedRequest;
  owner: string;
  resourceId: string;
}

/** A stored answer. */
export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  /** Null: a stream, which is produced again from the resource with this id. */
  body: string | null;
}

/** The result of looking up a request's key. */
export type Found =
  | { state: "claimed"; claim: Claim; again: boolean }
  | { state: "running" }
  | { state: "answered"; resourceId: string; answer: KeptAnswer }
  /** The key was used for a different request. */
  | { state: "reused" }
  /** There is an answer, encrypted with a secret key that this server does not have. */
  | { state: "unreadable" };

/** Takes the parsed body, whose fields are in schema order, however they were sent. */
export function fingerprintOf(method: string, url: string, body: unknown): Buffer {
  return createHash("sha256")
    .update(`${method} ${url}\n${JSON.stringify(body ?? null)}`)
    .digest();
}

/** Refusals after which nothing was done, and which pass without a change of the request. */
const passing: ReadonlySet<ErrorCode> = new Set([
  "agent_deleting",
  "backup_in_progress",
  "command_input_full",
  "function_not_waiting",
  "request_timeout",
  "turn_in_progress",
]);

/** Whether an answer is replayed: not one that a retry or other credentials may change. `code`: of an error. */
export function isKept(status: number, code: ErrorCode | null): boolean {
  return status < 500 && ![401, 402, 403, 429].includes(status) && !(code !== null && passing.has(code));
}
