import { Readable } from "node:stream";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { FastifyPluginAsync, FastifyReply } from "fastify";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { placeIn } from "../../contract/mcp-tasks.ts";
import { routes } from "../../contract/routes.ts";
import { goneOf } from "../../core/http/gone.ts";
import { countRequest } from "../../core/http/guard.ts";
import { handle } from "../../core/http/handle.ts";
import { sendEvents, sendText } from "../../core/http/sse.ts";
import type { Carrier } from "../carried-operations.ts";
import { handleRpcError } from "../rpc-errors.ts";
import { answerApprovals } from "./elicitation.ts";
import { sessionFor, sessionHeader } from "./mcp-client.ts";
import { isReading, withCodeOf2025 } from "./not-found.ts";
import { requestHeaders } from "./request-headers.ts";
import { authInfoOf, mcpServers } from "./server.ts";
import { isSubscription, Subscriptions } from "./subscriptions.ts";

/** The maximum number of messages in a batch, which the revision 2025-03-26 allows. */
const maximumBatch = 20;

/** `/mcp`: a request of the Model Context Protocol, answered as JSON or as a stream. */
export function mcpRoutes(context: AppContext, servers = mcpServers(context)): FastifyPluginAsync {
  const { address, config, streams } = context;
  return async (app) => {
    const onerror = (error: Error) => app.log.debug({ err: error }, "an MCP request was refused");
    // Supports the current revision of the protocol and earlier ones.
    const handler = createMcpHandler(servers, { onerror });
    app.setErrorHandler(handleRpcError);
    const subscriptions = new Subscriptions(servers, context, onerror);
    app.addHook("onClose", () => handler.close());
    app.addHook("onRequest", async ({ headers }) => requireOrigin(headers.origin, address.public, config.corsOrigins));

    handle(app, routes.mcp, async (request, reply) => {
      // Each request counts as a stream until it is answered: any may wait.
      using _ = streams.enter(request);
      for (let left = requireBatch(request.body) - 1; left > 0; left--) await countRequest(context, request, reply);
      const asked = new Request(`${address.public}/mcp`, {
        method: "POST",
        headers: requestHeaders(request.raw.headers),
        signal: goneOf(reply),
      });
      const authInfo = authInfoOf({ carrier: { request, reply } });
      const parsedBody = request.body ?? null;
      if (isSubscription(parsedBody)) {
        const opened = await subscriptions.open(asked, { authInfo, parsedBody }, { request, reply });
        if (opened instanceof Response) return await send(reply, opened);
        await sendEvents(reply, {}, () => opened);
        return reply;
      }
      const session = sessionFor(parsedBody);
      if (session !== null) reply.header(sessionHeader, session);
      await answerForm(context, { request, reply });
      const answer = await handler.fetch(asked, { authInfo, parsedBody });
      return await send(reply, isReading(parsedBody) ? await withCodeOf2025(answer) : answer);
    });
  };
}

/** A user's answer to a form that was sent in a call's stream. Its sender gets no error: nobody waits for one. */
async function answerForm(context: AppContext, carrier: Carrier): Promise<void> {
  const { id, method, result } = (carrier.request.body ?? {}) as { id?: unknown; method?: unknown; result?: unknown };
  const place = method === undefined && result !== undefined ? placeIn(id) : undefined;
  if (!place || place.rest === "") return;
  await answerApprovals(context, carrier, place, { [place.rest]: result }).catch((error: unknown) =>
    carrier.request.log.debug({ err: error }, "an answer to a form was refused"),
  );
}

/** The number of messages in the request. Throws `request_invalid` for too many. */
function requireBatch(body: unknown): number {
  if (!Array.isArray(body)) return 1;
  if (body.length <= maximumBatch) return body.length;
  throw new BerthError("request_invalid", `A batch is limited to ${maximumBatch} messages.`);
}

/** A page of another origin may not call: it may have redirected the browser to this server (DNS rebinding). */
function requireOrigin(origin: string | undefined, publicUrl: string, corsOrigins: readonly string[]): void {
  if (origin === undefined || origin === new URL(publicUrl).origin || corsOrigins.includes(origin)) return;
  throw new BerthError(
    "forbidden",
    "A page of this origin may not call the API; BERTH_CORS_ORIGINS lists the allowed origins.",
  );
}

async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const type = answer.headers.get("content-type");
  if (answer.body && type?.startsWith("text/event-stream")) {
    const events = Readable.fromWeb(answer.body as Parameters<typeof Readable.fromWeb>[0]);
    await sendText(reply, events);
    return reply;
  }
  reply.code(answer.status);
  for (const name of ["allow", "mcp-protocol-version"]) {
    const value = answer.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  if (type !== null) reply.type(type);
  // As text: the response has no schema.
  return reply.serializer(String).send(await answer.text());
}
