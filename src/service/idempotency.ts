import { createHash } from "node:crypto";

/** A request that came with an `Idempotency-Key`. */
export interface KeyedRequest {
  accountId: string;
  /** Of the API key that was shown; null for a token. A key is its credential's: no other is answered by it. */
  keyId: string | null;
  key: string;
  /** Of what is asked: `fingerprintOf`. */
  fingerprint: Buffer;
}

/** What a handler has to know, so that work that was begun before is not done twice. */
export interface Attempt {
  /** The id of what the request makes, the same in each attempt. */
  resourceId: string;
  /**
   * What is known of an earlier attempt. `none`: there was none. `unknown`: it ended without an answer, perhaps after the
   * work. `done`: its answer was a stream, which is to be made again and not the work.
   */
  earlier: "none" | "unknown" | "done";
}

/** The right to do a request's work and to keep its answer, until another takes it over. */
export interface Claim {
  request: KeyedRequest;
  owner: string;
  resourceId: string;
}

/** An answer as it is kept. */
export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  /** Null: a stream, made again from what has the resource's id. */
  body: string | null;
}

/** What came of a look at a request's key. */
export type Found =
  | { state: "claimed"; claim: Claim; again: boolean }
  | { state: "running" }
  | { state: "answered"; resourceId: string; answer: KeptAnswer }
  /** The key was used for another request. */
  | { state: "reused" }
  /** There is an answer, sealed with a secret key that this server does not have. */
  | { state: "unreadable" };

/** The keys' rows. A claim ends a few seconds after it was last renewed. */
export interface IdempotencyRows {
  /** Claims the request's work where it was not begun, or by one who is gone. */
  claim(request: KeyedRequest): Promise<Found>;
  renew(claim: Claim): Promise<void>;
  /** Keeps the answer for 24 hours. False when another has taken the work over. */
  answer(claim: Claim, answer: KeptAnswer): Promise<boolean>;
  /** Ends the claim without an answer: the next request of its kind does the work again, with the same resource. */
  release(claim: Claim): Promise<void>;
}

/** The body as it was parsed: its fields come in the order of their schema, however they were sent. */
export function fingerprintOf(method: string, url: string, body: unknown): Buffer {
  return createHash("sha256")
    .update(`${method} ${url}\n${JSON.stringify(body ?? null)}`)
    .digest();
}

/** Whether an answer of the status is given again: not one that another try, or other credentials, may change. */
export function isKept(status: number): boolean {
  return status < 500 && ![401, 402, 403, 429].includes(status);
}
