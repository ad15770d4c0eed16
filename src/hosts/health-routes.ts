import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import type { Readiness } from "../contract/health.ts";
import { handle } from "../core/http/handle.ts";

/** The service's metrics in the Prometheus format. */
export type MetricsText = () => Promise<{ type: string; text: string }>;

/** `/healthz`, `/readyz` and `/metrics`, for monitoring. They need no credentials. */
export function healthRoutes(readiness: () => Promise<Readiness>, metrics: MetricsText): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getHealth, async () => ({ ok: true }));
    handle(app, routes.getReadiness, async (_request, reply) => {
      const answer = await readiness();
      return reply.code(answer.ready ? 200 : 503).send(answer);
    });
    handle(app, routes.getMetrics, async (_request, reply) => {
      const { type, text } = await metrics();
      return reply.type(type).send(text);
    });
  };
}
