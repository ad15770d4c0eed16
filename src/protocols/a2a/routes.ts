import { createHash } from "node:crypto";
import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler } from "@a2a-js/sdk/server";
import type { FastifyError, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import { routes } from "../../contract/routes.ts";
import { isUnchanged } from "../../core/http/conditions.ts";
import { goneOf } from "../../core/http/gone.ts";
import { handle } from "../../core/http/handle.ts";
import { protectedResource } from "../../sign-in/open.ts";
import { handleRpcError } from "../rpc-errors.ts";
import { AgentTasks } from "./agent-tasks.ts";
import { answer } from "./answer.ts";
import { type CardFacts, cardOf } from "./card.ts";

/** How long clients may keep a card. */
const cardSeconds = 60;

/** `/agents/{name}/a2a`: an agent by the Agent2Agent protocol, JSON-RPC, and its card. */
export function a2aRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, approvals, conversations, turns, uploads, operations, streams, taskNotifications } = context;
  return async (app) => {
    app.setErrorHandler(handleA2aError);
    handle(app, routes.getA2aCard, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      const card = cardOf(agent, factsOf(context));
      const etag = `"${createHash("sha256").update(JSON.stringify(card)).digest("base64url").slice(0, 22)}"`;
      reply.headers({ "cache-control": `private, max-age=${cardSeconds}`, etag });
      return isUnchanged(request.headers, etag, new Date()) ? reply.code(304).send() : card;
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
      return await answer(request, reply, tasks);
    });
  };
}

function factsOf(context: AppContext): CardFacts {
  const { version, address } = context;
  return { version, publicUrl: address.public, issuer: protectedResource(context).authorization_servers[0]! };
}

/** As `handleRpcError`. A body of another type gets A2A's error. */
function handleA2aError(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (thrown.code !== "FST_ERR_CTP_INVALID_MEDIA_TYPE") return handleRpcError(thrown, request, reply);
  request.errorCode = "content_type_unsupported";
  const error = JsonRpcTransportHandler.mapToJSONRPCError(
    new ContentTypeNotSupportedError("The body's content type must be application/json."),
  );
  return reply.code(415).type("application/json").serializer(JSON.stringify).send({ jsonrpc: "2.0", id: null, error });
}
