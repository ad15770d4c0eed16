import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from "@a2a-js/sdk";
import { VersionNotSupportedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import { routes } from "../../contract/routes.ts";
import { goneOf } from "../../core/http/gone.ts";
import { handle } from "../../core/http/handle.ts";
import { type SseEvent, sendEvents } from "../../core/http/sse.ts";
import { protectedResource } from "../../sign-in/open.ts";
import { AgentTasks } from "./agent-tasks.ts";
import { type CardFacts, cardOf } from "./card.ts";

/** `/agents/{name}/a2a`: an agent by the Agent2Agent protocol, JSON-RPC, and its card. */
export function a2aRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, approvals, conversations, turns, uploads, operations, streams, taskNotifications } = context;
  return async (app) => {
    handle(app, routes.getA2aCard, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      reply.header("cache-control", "private, no-cache");
      return cardOf(agent, factsOf(context));
    });

    handle(app, routes.a2a, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      // Each request counts as a stream until it is answered: any may wait.
      using _ = streams.enter(request);
      const tasks = new AgentTasks({
        conversations,
        turns,
        uploads,
        approvals,
        notifications: taskNotifications,
        operations,
        carrier: { request, reply },
        agent,
        gone: goneOf(reply),
      });
      const version = request.headers[A2A_VERSION_HEADER.toLowerCase()] ?? request.query[A2A_VERSION_HEADER] ?? "";
      return await answer(request, reply, String(version), new JsonRpcTransportHandler(tasks));
    });
  };
}

function factsOf(context: AppContext): CardFacts {
  const { version, address } = context;
  return { version, publicUrl: address.public, issuer: protectedResource(context).authorization_servers[0]! };
}

/** Answers a call, with a stream of responses if its method has one. */
async function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  version: string,
  handler: JsonRpcTransportHandler,
): Promise<unknown> {
  const { id = null } = (request.body ?? {}) as { id?: string | number | null };
  const refused = (error: unknown) => ({
    jsonrpc: "2.0",
    id,
    error: JsonRpcTransportHandler.mapToJSONRPCError(error),
  });
  if (!isSpoken(version)) {
    const asked =
      version === "" ? "No version means 0.3, which is not supported." : `Version ${version} is not supported.`;
    const message = `${asked} Use version ${A2A_PROTOCOL_VERSION}, with the header ${A2A_VERSION_HEADER}: ${A2A_PROTOCOL_VERSION}.`;
    return refused(new VersionNotSupportedError(message));
  }
  const body = request.body as Record<string, unknown>;
  const answered = await handler.handle(body, new ServerCallContext()).catch(refused);
  if (!(Symbol.asyncIterator in answered)) return answered;
  const responses = answered[Symbol.asyncIterator]();
  try {
    // Refusals are sent before the stream begins.
    const first = await responses.next();
    await sendEvents(reply, {}, () => streamed(first, responses));
    return reply;
  } catch (error) {
    return refused(error);
  }
}

/** Patch versions do not count, and a client that names none speaks 0.3 (A2A 1.0, 3.6). */
function isSpoken(version: string): boolean {
  return /^\d+\.\d+/.exec(version)?.[0] === A2A_PROTOCOL_VERSION;
}

async function* streamed(
  first: IteratorResult<unknown, void>,
  rest: AsyncGenerator<unknown, void>,
): AsyncGenerator<SseEvent[]> {
  if (first.done) return;
  yield [{ data: first.value }];
  for await (const data of rest) yield [{ data }];
}
