import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { schemaOf, toolsOf } from "../../contract/openai.ts";
import { routes } from "../../contract/routes.ts";
import { begun } from "../../core/http/begun.ts";
import { clientGone, goneOf } from "../../core/http/gone.ts";
import { handle } from "../../core/http/handle.ts";
import { notAgain } from "../../core/http/openai-errors.ts";
import { type SseEvent, sendEvents } from "../../core/http/sse.ts";
import type { Turns } from "../../turns/turns.ts";
import { beginAsked } from "./begin.ts";
import { ChatStream } from "./chat-stream.ts";
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
      const agent = await findAgent(agents, request, model);
      using _ = streams.enter(request);
      const { response, turn } = await beginAsked(context, request, agent, {
        asked: askedOfMessages(messages),
        instructions: [],
        functions: toolsOf(request.body).map((tool) => tool.function),
        outputSchema: format?.type === "json_schema" ? schemaOf(format.json_schema) : null,
        previousId: null,
        conversation: null,
        request: null,
      });
      const chat = new ChatStream({ response, turn }, agent.name, options?.include_usage ?? false);
      if (stream) {
        await begun(context, request, reply);
        await sendEvents(reply, { "x-turn-id": turn.id }, (gone) => chunks(turns, { response, turn }, chat, gone));
        return reply;
      }
      reply.header("x-turn-id", turn.id).header(...notAgain);
      for await (const batch of turns.events.follow(turn, readFrom(response), goneOf(reply))) {
        chat.take(batch);
        if (chat.ended) break;
      }
      if (chat.fault) throw new BerthError(chat.fault.code, chat.fault.message);
      if (!chat.ended) throw clientGone();
      return chat.object;
    });
  };
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
