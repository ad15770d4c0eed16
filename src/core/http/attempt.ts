import { createHash } from "node:crypto";
import type { ErrorCode } from "../../contract/errors.ts";

export interface KeyedRequest {
  accountId: string;
  /** The API key's id; null for a token. Idempotency keys are scoped to a credential. */
  keyId: string | null;
  /** The signed-in person's id; null for a key. */
  personId: string | null;
  key: string;
  /** See `fingerprintOf`. */
  fingerprint: Buffer;
}

/** Describes earlier attempts of a request, so that no work is done twice. */
export interface Attempt {
  /** The id of what the request creates, the same in each attempt. */
  resourceId: string;
  /**
   * The earlier attempt. `unknown`: it ended without a response, perhaps after the work. `done`: its response was a
   * stream; only the stream is repeated, not the work.
   */
  earlier: "none" | "unknown" | "done";
  /** Changes the resource's id for this attempt and all later ones; absent if there are none. */
  moveTo?: (resourceId: string) => Promise<void>;
}

/** The request's id, by which a later attempt finds this one's work; null if there are no later ones. */
export function retriedAs({ resourceId, moveTo }: Attempt): string | null {
  return moveTo ? resourceId : null;
}

export interface Claim {
  request: KeyedRequest;
  owner: string;
  resourceId: string;
}

export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  /** Null: a stream, which is reproduced from the resource with this id. */
  body: string | null;
}

/** The result of looking up a request's key. */
export type Found =
  | { state: "claimed"; claim: Claim; again: boolean }
  | { state: "running" }
  | { state: "answered"; resourceId: string; answer: KeptAnswer }
  /** The key was used for a different request. */
  | { state: "reused" }
  /** The response is encrypted with a secret key that this server does not have. */
  | { state: "unreadable" };

/** Takes the parsed body, whose fields are in schema order, however they were sent. */
export function fingerprintOf(method: string, url: string, body: unknown): Buffer {
  return createHash("sha256")
    .update(`${method} ${url}\n${JSON.stringify(body ?? null)}`)
    .digest();
}

/** Transient refusals, after which nothing was done. */
const passing: ReadonlySet<ErrorCode> = new Set([
  "agent_deleting",
  "backup_in_progress",
  "command_input_full",
  "function_not_waiting",
  "request_timeout",
  "turn_in_progress",
]);

/** Whether a response is replayed: not if a retry or other credentials may change it. `code`: of an error. */
export function isKept(status: number, code: ErrorCode | null): boolean {
  return status < 500 && ![401, 402, 403, 429].includes(status) && !(code !== null && passing.has(code));
}
