import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import type { AguiRun } from "../../contract/agui.ts";
import { problemOfMessage, type SequencedEvent, type TurnEvent } from "../../contract/chat.ts";
import { BerthError } from "../../contract/errors.ts";
import { routes } from "../../contract/routes.ts";
import { begun } from "../../core/http/begun.ts";
import { handle } from "../../core/http/handle.ts";
import { type SseEvent, sendEvents } from "../../core/http/sse.ts";
import { earlierTurn } from "../../turns/routes.ts";

/** `/agents/{name}/agui`: a turn as a run of AG-UI (https://docs.ag-ui.com). */
export function aguiRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, turns, streams } = context;
  return async (app) => {
    handle(app, routes.agui, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      using _ = streams.enter(request);
      const { attempt, body, caller } = request;
      const message = messageOf(body);
      const earlier = await earlierTurn(turns, request, agent);
      const turn = earlier ?? (await turns.begin(attempt.resourceId, agent, message, caller));
      await begun(context, request, reply);
      const events = (gone: AbortSignal) => projected(turns.events.follow(turn, 0, gone), body, turn.id);
      await sendEvents(reply, { "x-turn-id": turn.id }, events);
      return reply;
    });
  };
}

/** The last message, which must be the user's. The agent has the earlier ones. */
function messageOf({ messages, tools }: AguiRun): string {
  if (tools.length > 0) throw new BerthError("request_invalid", "tools: an agent uses only its own tools.");
  const { role, content } = messages.at(-1)!;
  if (role !== "user" || typeof content !== "string")
    throw new BerthError("request_invalid", "messages: the last one must be the user's, and text.");
  const problem = problemOfMessage(content);
  if (problem !== null) throw new BerthError("request_invalid", `messages: ${problem}`);
  return content;
}

async function* projected(
  batches: AsyncIterable<SequencedEvent[]>,
  { threadId, runId }: AguiRun,
  turnId: string,
): AsyncGenerator<SseEvent[]> {
  const project = projection({ threadId, runId }, turnId);
  yield [{ data: { type: "RUN_STARTED", threadId, runId } }];
  for await (const batch of batches) {
    const events = batch.flatMap(({ event }) => project(event));
    if (events.length > 0) yield events.map((data) => ({ data }));
  }
}

/** A turn's events as AG-UI events. Text is a message that ends before a tool or the run does. */
function projection(run: { threadId: string; runId: string }, turnId: string): (event: TurnEvent) => object[] {
  let [messages, isOpen] = [0, false];
  const part = (type: string, fields = {}) => ({ type, messageId: `${turnId}-${messages}`, ...fields });
  const open = () => {
    if (isOpen) return [];
    [messages, isOpen] = [messages + 1, true];
    return [part("TEXT_MESSAGE_START", { role: "assistant" })];
  };
  const close = () => {
    const end = isOpen ? [part("TEXT_MESSAGE_END")] : [];
    isOpen = false;
    return end;
  };
  return (event) => {
    if (event.type === "response.output_text.delta")
      return event.delta === "" ? [] : [...open(), part("TEXT_MESSAGE_CONTENT", { delta: event.delta })];
    const others = othersOf(event, run, turnId);
    return others.length === 0 ? [] : [...close(), ...others];
  };
}

/** Everything except text: tools, and the end of the run. */
function othersOf(event: TurnEvent, run: object, turnId: string): object[] {
  if (event.type === "response.completed") return [{ type: "RUN_FINISHED", ...run }];
  if (event.type === "response.failed") return [{ type: "RUN_ERROR", ...event.error }];
  if (event.type === "response.cancelled")
    return [{ type: "RUN_ERROR", code: "cancelled", message: "The turn was cancelled." }];
  if (event.type !== "response.tool_call.started" && event.type !== "response.tool_call.completed") return [];
  const { type, id: toolCallId, name, title, input, output } = event;
  if (type === "response.tool_call.completed") {
    const content = typeof output === "string" ? output : JSON.stringify(output ?? "");
    return [{ type: "TOOL_CALL_RESULT", messageId: `${turnId}-${toolCallId}`, toolCallId, role: "tool", content }];
  }
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: name ?? title ?? "tool" },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input ?? {}) },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}
