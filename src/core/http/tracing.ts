import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Span, TraceOrigin, Tracer } from "../../telemetry/span.ts";

/**
 * Gives each request that may begin a turn a span, which its caller carries from then on. Call after authentication:
 * refused requests have no span. A span has the route, not the address, which names an agent.
 */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook("onRequest", async (request, reply) => {
    const { route } = request.routeOptions.config;
    if (!route?.traced || !request.caller) return;
    const facts = { "http.request.method": route.method, "http.route": route.path };
    const span = tracer.begin(route.operation, facts, originOf(request));
    request.caller = { ...request.caller, span };
    request.log = request.log.child({ traceId: span.traceId });
    reply.log = request.log;
    endWith(reply, span);
  });
}

function originOf({ passport, headers }: FastifyRequest): TraceOrigin {
  if (passport?.traceparent) return { traceparent: passport.traceparent, isOurs: true };
  const { traceparent } = headers;
  return { traceparent: typeof traceparent === "string" ? traceparent : null, isOurs: false };
}

function endWith({ raw }: FastifyReply, span: Span): void {
  raw.once("close", () => {
    const { statusCode, writableFinished } = raw;
    span.add({ "http.response.status_code": statusCode });
    if (!writableFinished) span.mark("client gone");
    span.end(statusCode >= 500 ? String(statusCode) : null);
  });
}
