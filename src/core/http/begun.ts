import type { FastifyReply, FastifyRequest } from "fastify";
import type { AppContext } from "../../context.ts";

/**
 * Called by a handler before it streams its response, because hooks do not see streams: answers the request's
 * `Idempotency-Key` and writes its audit entry.
 */
export async function begun(
  { idempotency, audit }: Pick<AppContext, "idempotency" | "audit">,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  await idempotency.streams(request);
  await audit.log(request, reply);
}
