import type { FastifyReply } from "fastify";
import { BerthError } from "../../contract/errors.ts";

/** Aborts when the client disconnects, or if it has already. The requested work may continue. */
export function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  if (raw.destroyed) gone.abort();
  return gone.signal;
}

/**
 * The error of a handler whose client has gone. Without it the partial response would be stored for the request's
 * Idempotency-Key.
 */
export function clientGone(): BerthError {
  return new BerthError("request_timeout", "The client disconnected before the answer was complete.");
}
