import { TLSSocket } from "node:tls";
import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { challengeHeader, HealthHeaders, proofHeader } from "../contract/reachability.ts";
import { routes } from "../contract/routes.ts";
import { parseValue } from "../contract/validation.ts";
import { handle } from "../core/http/handle.ts";
import { proofOf } from "../reachability/proof.ts";

/** `/healthz`, `/readyz` and `/metrics`, for monitoring. They need no credentials. */
export function healthRoutes(context: AppContext): FastifyPluginAsync {
  const { metrics } = context;
  return async (app) => {
    handle(app, routes.getHealth, async ({ headers }, reply) => {
      const { [challengeHeader]: challenge } = parseValue(HealthHeaders, headers);
      if (challenge !== undefined) reply.header(proofHeader, proofOf(context.secretKey, challenge));
      return { ok: true };
    });
    handle(app, routes.getReadiness, async (_request, reply) => {
      const answer = await context.readiness();
      return reply.code(answer.ready ? 200 : 503).send(answer);
    });
    handle(app, routes.getMetrics, async (request, reply) => {
      // The HTTPS listener is open to the public, the HTTP address is not.
      if (request.raw.socket instanceof TLSSocket) {
        throw new BerthError(
          "forbidden",
          "Metrics are not served over HTTPS: use the address of BERTH_HOST and BERTH_PORT.",
        );
      }
      const { type, text } = await metrics.text();
      return reply.type(type).send(text);
    });
  };
}
