import type { FastifyPluginAsync } from "fastify";
import type { AgentState } from "../../agents/agent.ts";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import { Effort } from "../../contract/effort.ts";
import { BerthError } from "../../contract/errors.ts";
import { CreateChatCompletion, ignoredHeaders, schemaOf, toolsOf } from "../../contract/openai.ts";
import { routes } from "../../contract/routes.ts";
import { begun } from "../../core/http/begun.ts";
import { clientGone, goneOf } from "../../core/http/gone.ts";
import { handle } from "../../core/http/handle.ts";
import { notAgain } from "../../core/http/openai-errors.ts";
import { type SseEvent, sendEvents } from "../../core/http/sse.ts";
import type { TurnState } from "../../turns/turn.ts";
import type { Turns } from "../../turns/turns.ts";
import { beginAsked } from "./begin.ts";
import { ChatStream } from "./chat-stream.ts";
import { chatOf } from "./chats.ts";
import { askedOfMessages } from "./input.ts";
import { streamEnd } from "./read.ts";
import type { BegunResponse } from "./stored-responses.ts";
import { readFrom } from "./stretch-usage.ts";

/** `/v1/chat/completions`: turns as answers of OpenAI's older API. */
export function chatCompletionRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, turns, streams } = context;
  return async (app) => {
    handle(app, routes.createChatCompletion, async (request, reply) => {
      const { model, messages, stream, stream_options: options, response_format: format } = request.body;
      const chat = chatOf(request.headers);
      const agent = await findAgent(agents, request, model);
      using _ = streams.enter(request);
      const { response, turn } = await beginAsked(context, request, agent, {
        asked: askedOfMessages(messages),
        instructions: [],
        functions: toolsOf(request.body).map((tool) => tool.function),
        outputSchema: format?.type === "json_schema" ? schemaOf(format.json_schema) : null,
        effort: Effort.nullable()
          .catch(null)
          .parse(request.body.reasoning_effort ?? null),
        previousId: null,
        held: null,
        conversation: null,
        request: null,
        isStored: false,
      });
      const headers = { "x-turn-id": turn.id, ...ignoredHeaders(CreateChatCompletion, request.body) };
      const answer = new ChatStream({ response, turn }, agent.name, options?.include_usage ?? false);
      if (stream) {
        await begun(context, request, reply);
        await sendEvents(reply, headers, (gone) => chunks(turns, { response, turn }, answer, gone));
        if (chat) await stopIfLeft(context, agent, turn, answer);
        return reply;
      }
      reply.headers(headers).header(...notAgain);
      for await (const batch of turns.events.follow(turn, readFrom(response), goneOf(reply))) {
        answer.take(batch);
        if (answer.ended) break;
      }
      if (answer.fault) throw new BerthError(answer.fault.code, answer.fault.message);
      if (chat) await stopIfLeft(context, agent, turn, answer);
      if (!answer.ended) throw clientGone();
      return answer.object;
    });
  };
}

/** Stops the turn of a front end that has left: this is how its user stops a reply. Others' messages are not held. */
async function stopIfLeft(
  { turns, stops, log }: AppContext,
  agent: AgentState,
  { id }: TurnState,
  answer: ChatStream,
): Promise<void> {
  // A stopping server cuts its streams, and the turns continue.
  if (answer.ended || stops.underWay.length > 0) return;
  try {
    await turns.cancel(agent, await turns.find(agent.id, id), false);
  } catch (error) {
    if (!(error instanceof BerthError)) log("the turn of a front end that left could not be stopped", { id, error });
  }
}

async function* chunks(
  turns: Turns,
  { response, turn }: BegunResponse,
  chat: ChatStream,
  gone: AbortSignal,
): AsyncGenerator<SseEvent[]> {
  yield chat.begin().map((data) => ({ data }));
  for await (const batch of turns.events.follow(turn, readFrom(response), gone)) {
    yield chat.take(batch).map((data) => ({ data }));
    if (chat.ended) break;
  }
  if (chat.ended) yield [streamEnd];
}
