import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";

const Check = z.object({ ok: z.boolean(), message: z.string() });
const Readiness = z
  .object({ ready: z.boolean(), checks: z.object({ database: Check, image: Check, accelerator: Check }) })
  .meta({ id: "Readiness" });
export type Readiness = z.infer<typeof Readiness>;

/** The measurements of the service, as Prometheus reads them. */
export type MetricsText = () => Promise<{ type: string; text: string }>;

/** `/healthz`, `/readyz` and `/metrics`: for those who watch over the service. They need no credentials. */
export function healthRoutes(readiness: () => Promise<Readiness>, metrics: MetricsText): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      "/healthz",
      { schema: { summary: "Alive", response: { 200: z.object({ ok: z.boolean() }) } } },
      async () => ({ ok: true }),
    );
    app.get(
      "/readyz",
      { schema: { summary: "Ready", response: { 200: Readiness, 503: Readiness } } },
      async (_request, reply) => {
        const answer = await readiness();
        return reply.code(answer.ready ? 200 : 503).send(answer);
      },
    );
    app.get("/metrics", { schema: { summary: "Measurements in Prometheus' format" } }, async (_request, reply) => {
      const { type, text } = await metrics();
      return reply.type(type).send(text);
    });
  };
}
