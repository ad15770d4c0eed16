import type { FastifyReply } from "fastify";

/** Aborts when the client goes away, or has gone already. What it asked for may go on. */
export function goneOf({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  if (raw.destroyed) gone.abort();
  return gone.signal;
}
