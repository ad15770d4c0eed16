import type { FastifyReply, FastifyRequest } from "fastify";
import type { AppContext } from "../../context.ts";

/**
 * Called by a handler before it streams its answer, because hooks do not see streams: settles the request's
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
