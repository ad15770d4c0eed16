import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { CreateResponse, fromResponseId, ignoredHeaders, responseId } from "../../contract/openai.ts";
import { routes } from "../../contract/routes.ts";
import { requireOwnTurn } from "../../core/http/authorize.ts";
import { begun } from "../../core/http/begun.ts";
import { clientGone, goneOf } from "../../core/http/gone.ts";
import { handle, type RequestOf } from "../../core/http/handle.ts";
import { notAgain } from "../../core/http/openai-errors.ts";
import { lastEventId, sendEvents, sendLastEvents } from "../../core/http/sse.ts";
import { createResponse } from "./create.ts";
import { inputItemPage } from "./input-items.ts";
import { readResponse, responseEvents, resumableEvents } from "./read.ts";
import { noResponse } from "./stored-responses.ts";

/** How long a cancelled response has to end before it is returned in its current state. */
const cancelMs = 5_000;

/** `/v1/responses`: turns as responses of OpenAI's API. */
export function responseRoutes(context: AppContext): FastifyPluginAsync {
  const { turns, responses, streams } = context;
  return async (app) => {
    handle(app, routes.createResponse, (request, reply) => create(context, request, reply));

    handle(app, routes.getResponse, async (request, reply) => {
      const place = await find(context, request);
      const { stream, starting_after: from = -1 } = request.query;
      if (stream !== "true") return readResponse(turns, place, "so far");
      using _ = streams.enter(request);
      const seen = lastEventId(request);
      const after = seen ?? from;
      const isOver = seen !== null && (await readResponse(turns, place, "so far")).status !== "in_progress";
      const send = isOver ? sendLastEvents : sendEvents;
      await send(reply, { "x-turn-id": place.turn.id }, (gone) =>
        resumableEvents(responseEvents(turns, place, after, gone), after, seen),
      );
      return reply;
    });

    handle(app, routes.cancelResponse, async (request) => {
      const place = await find(context, request);
      try {
        await turns.cancel(place.agent, place.turn);
      } catch (error) {
        // OpenAI's API allows cancelling any number of times.
        if (!(error instanceof BerthError && error.code === "turn_finished")) throw error;
      }
      return readResponse(turns, place, AbortSignal.timeout(cancelMs));
    });

    handle(app, routes.deleteResponse, async (request) => {
      const { response } = await find(context, request);
      await responses.remove(response);
      return { id: responseId(response.id), object: "response", deleted: true } as const;
    });

    handle(app, routes.listInputItems, async (request) => {
      const { response } = await find(context, request);
      return inputItemPage(response, request.query);
    });
  };
}

/** Answers once the turn is stored, or with its events, or when it has ended. */
async function create(context: AppContext, request: RequestOf<typeof routes.createResponse>, reply: FastifyReply) {
  const { agents, turns, streams } = context;
  const { model, stream, background } = request.body;
  const agent = await findAgent(agents, request, model);
  using _ = streams.enter(request);
  const held = request.passport?.continues ?? null;
  const place = { ...(await createResponse(context, request, agent, request.body, held)), model: agent.name };
  const headers = { "x-turn-id": place.turn.id, ...ignoredHeaders(CreateResponse, request.body) };
  if (stream) {
    await begun(context, request, reply);
    await sendEvents(reply, headers, (gone) => responseEvents(turns, place, -1, gone));
    return reply;
  }
  reply.headers(headers).header(...notAgain);
  if (background) return await readResponse(turns, place, "so far");
  const response = await readResponse(turns, place, goneOf(reply));
  if (response.status === "in_progress") throw clientGone();
  return response;
}

/** The response in the path, if the caller may see it. */
async function find(
  { agents, turns, responses }: AppContext,
  request: FastifyRequest & { params: { responseId: string } },
) {
  const { response, agentName } = await responses.find(
    request.caller.accountId,
    fromResponseId(request.params.responseId),
  );
  const agent = await findAgent(agents, request, agentName).catch((error: unknown) => {
    // A private agent's name is not for others.
    throw error instanceof BerthError && error.code === "agent_not_found" ? noResponse() : error;
  });
  const turn = await turns.find(agent.id, response.turnId);
  requireOwnTurn(request.caller, turn);
  return { response, turn, agent, model: agent.name };
}
