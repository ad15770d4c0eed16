import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import type { AguiRun } from "../../contract/agui.ts";
import type { SequencedEvent, TurnEvent } from "../../contract/chat.ts";
import { BerthError } from "../../contract/errors.ts";
import { routes } from "../../contract/routes.ts";
import { imageTypes, MediaType } from "../../contract/uploads.ts";
import { begun } from "../../core/http/begun.ts";
import { handle } from "../../core/http/handle.ts";
import { type SseEvent, sendEvents } from "../../core/http/sse.ts";
import { beginContent } from "../../turns/begin-content.ts";
import { earlierTurn } from "../../turns/routes.ts";
import { bytesOf, checked, type GivenFile, type MessageContent } from "../../uploads/content.ts";

/** `/agents/{name}/agui`: a turn as a run of AG-UI (https://docs.ag-ui.com). */
export function aguiRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, turns, streams } = context;
  return async (app) => {
    handle(app, routes.agui, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      using _ = streams.enter(request);
      const { attempt, body, caller } = request;
      const content = contentIn(body);
      const earlier = await earlierTurn(turns, request, agent);
      const turn = earlier ?? (await beginContent(context, attempt.resourceId, agent, content, caller, {}));
      await begun(context, request, reply);
      const events = (gone: AbortSignal) => projected(turns.events.follow(turn, 0, gone), body, turn.id);
      await sendEvents(reply, { "x-turn-id": turn.id }, events);
      return reply;
    });
  };
}

/** The last message, which must be the user's. The agent has the earlier ones. */
function contentIn({ messages, tools }: AguiRun): MessageContent {
  if (tools.length > 0) throw invalid("tools: an agent uses only its own tools.");
  const { role, content } = messages.at(-1)!;
  if (role !== "user") throw invalid("messages: the last one must be the user's.");
  if (typeof content === "string") return checked({ text: content, files: [] }, "messages");
  if (!Array.isArray(content)) throw invalid("messages: the last one must be a text, or parts.");
  const parts = content.map((part: unknown, index) => partOf(part, `content.${index}`));
  const text = parts.flatMap((part) => (typeof part === "string" ? [part] : [])).join("\n\n");
  return checked({ text, files: parts.filter((part) => typeof part !== "string") }, "messages");
}

/** A part with bytes, as AG-UI 1.0 has it, or before (`binary`). */
const MediaPart = z.union([
  z.object({
    type: z.enum(["image", "audio", "video", "document"]),
    source: z.object({ type: z.literal("data"), value: z.string(), mimeType: MediaType }),
  }),
  z.object({
    type: z.literal("binary"),
    data: z.string(),
    mimeType: MediaType,
    filename: z.string().max(1_000).optional(),
  }),
]);

/** The text or the file of a part. Throws `request_invalid`. */
function partOf(part: unknown, place: string): string | GivenFile {
  const said = TextPart.safeParse(part);
  if (said.success) return said.data.text;
  const { data } = MediaPart.safeParse(part);
  if (!data) throw invalid(`${place}: a part is a text, or has its bytes in base64; addresses are not fetched.`);
  const { name, base64, mediaType } =
    data.type === "binary"
      ? { name: data.filename ?? null, base64: data.data, mediaType: data.mimeType }
      : { name: null, base64: data.source.value, mediaType: data.source.mimeType };
  const kind = (imageTypes as readonly string[]).includes(mediaType.toLowerCase()) ? "image" : "file";
  return { kind, part: place, name, mediaType, source: bytesOf(base64, place) };
}

const TextPart = z.object({ type: z.literal("text"), text: z.string() });

function invalid(message: string): BerthError {
  return new BerthError("request_invalid", message);
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
