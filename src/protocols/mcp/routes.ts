import { Readable } from "node:stream";
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { routes } from "../../api/routes.ts";
import { BerthError } from "../../contract/errors.ts";
import { goneOf } from "../../core/http/gone.ts";
import { handle } from "../../core/http/handle.ts";
import { sendText } from "../../core/http/sse.ts";
import type { Streams } from "../../core/http/streams.ts";
import { requestHeaders } from "./request-headers.ts";
import { authInfoOf } from "./server.ts";

/** The most messages of a batch, which the revision 2025-03-26 allows. */
const maximumBatch = 20;

interface McpRouteOptions {
  handler: McpHttpHandler;
  /** Each request counts as a stream until it is answered: any may wait. */
  streams: Pick<Streams, "enter">;
  /** Counts a request beside those that HTTP counts. Throws `rate_limited`. */
  count: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** The origins whose pages may call the API. */
  corsOrigins: readonly string[];
  /** Without a trailing slash. */
  publicUrl: () => string;
}

/** `/mcp`: a request of the Model Context Protocol, answered as JSON or as a stream. */
export function mcpRoutes({ handler, streams, count, corsOrigins, publicUrl }: McpRouteOptions): FastifyPluginAsync {
  return async (app) => {
    app.addHook("onClose", () => handler.close());
    app.addHook("onRequest", async ({ headers }) => requireOrigin(headers.origin, publicUrl(), corsOrigins));

    handle(app, routes.mcp, async (request, reply) => {
      using _ = streams.enter(request);
      for (let left = requireBatch(request.body) - 1; left > 0; left--) await count(request, reply);
      const asked = new Request(`${publicUrl()}/mcp`, {
        method: "POST",
        headers: requestHeaders(request.raw.headers),
        signal: goneOf(reply),
      });
      const authInfo = authInfoOf({ carrier: { request, reply } });
      const answer = await handler.fetch(asked, { authInfo, parsedBody: request.body ?? null });
      return await send(reply, answer);
    });
  };
}

/** How many messages the request has. Throws `request_invalid` for too many. */
function requireBatch(body: unknown): number {
  if (!Array.isArray(body)) return 1;
  if (body.length <= maximumBatch) return body.length;
  throw new BerthError("request_invalid", `A batch has ${maximumBatch} messages at most.`);
}

/** A page of another origin may not call: one may have made the browser take this server for its own (DNS rebinding). */
function requireOrigin(origin: string | undefined, publicUrl: string, corsOrigins: readonly string[]): void {
  if (origin === undefined || origin === new URL(publicUrl).origin || corsOrigins.includes(origin)) return;
  throw new BerthError(
    "forbidden",
    "A page of this origin may not call the API; BERTH_CORS_ORIGINS names those that may.",
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
  for (const name of ["allow", "mcp-session-id", "mcp-protocol-version"]) {
    const value = answer.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  if (type !== null) reply.type(type);
  // As text: the answer is of no schema.
  return reply.serializer(String).send(await answer.text());
}
