import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";

/** `/healthz`, `/readyz` and `/metrics`, for monitoring. They need no credentials. */
export function healthRoutes(context: AppContext): FastifyPluginAsync {
  const { metrics } = context;
  return async (app) => {
    handle(app, routes.getHealth, async () => ({ ok: true }));
    handle(app, routes.getReadiness, async (_request, reply) => {
      const answer = await context.readiness();
      return reply.code(answer.ready ? 200 : 503).send(answer);
    });
    handle(app, routes.getMetrics, async (_request, reply) => {
      const { type, text } = await metrics.text();
      return reply.type(type).send(text);
    });
  };
}
