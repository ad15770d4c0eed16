import { setTimeout as sleep } from "node:timers/promises";
import {
  anthropicError,
  jsonAnswer,
  type Message,
  type MessagesRequest,
  type TextBlock,
  type ToolResultBlock,
} from "./anthropic-wire.ts";
import type { ModelAnswer, ModelCall, Provider } from "./provider.ts";

/** Between two words of a streamed reply, in milliseconds. */
const wordPaceMs = 12;

/** The names under which runtimes offer a shell to their model. */
const shellToolNames = /^(bash|shell|exec|terminal|run_command|local_shell)$/i;

/** What the demonstration model does next: say something, or call the runtime's shell tool. */
type Reply = { kind: "text"; text: string } | { kind: "tool"; tool: string; command: string };

/**
 * A model for machines without a key: it repeats what it was told, and runs the command of a line
 * `run: COMMAND` with the runtime's shell tool. It says that it is a demonstration.
 */
export const demo: Provider = async (call: ModelCall): Promise<ModelAnswer> => {
  const path = call.path.split("?")[0];
  const request = parse(call.body);
  if (!request) return anthropicError(400, "invalid_request_error", "The body is not a Messages request.");
  const inputTokens = Math.ceil(call.body.length / 4);
  if (path === "/v1/messages/count_tokens") return jsonAnswer(200, { input_tokens: inputTokens });
  const reply = replyTo(request);
  return request.stream
    ? {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: stream(request, reply, inputTokens, call.signal),
      }
    : jsonAnswer(200, wholeMessage(request, reply, inputTokens));
};

function parse(body: Buffer): MessagesRequest | null {
  try {
    const request = JSON.parse(body.toString("utf8")) as MessagesRequest;
    return Array.isArray(request?.messages) ? request : null;
  } catch {
    return null;
  }
}

function replyTo({ messages, tools }: MessagesRequest): Reply {
  const mine = messages.filter(({ role }) => role === "user").map(partsOf);
  const result = mine.at(-1)?.findLast(() => true);
  if (result?.kind === "result") {
    return { kind: "text", text: `The demonstration model ran the command. It printed:\n\n${result.text}` };
  }
  const said = mine.map(wordsOf).filter((words) => words !== "");
  const now = said.at(-1) ?? "";
  const command = /^[ \t]*run:[ \t]*(\S.*?)[ \t]*$/m.exec(now)?.[1];
  const tool = tools?.find(({ name }) => shellToolNames.test(name))?.name;
  if (command && tool) return { kind: "tool", tool, command };
  if (command) {
    return {
      kind: "text",
      text: "This is Berth's demonstration model. It was offered no shell tool to run the command with.",
    };
  }
  const before = said.length > 1 ? ` Before that you said: “${said.at(-2)}”` : "";
  return {
    kind: "text",
    text:
      "This is Berth's demonstration model: it needs no key and it does not think. " +
      `Your message ${said.length} of this conversation was: “${now}”${before}\n` +
      "A line “run: COMMAND” has the agent run that command in its machine.",
  };
}

/** A part of a user message: the user's words, or a tool's result, which the wire counts as the user's too. */
interface Part {
  kind: "words" | "result";
  text: string;
}

function partsOf({ content }: Message): Part[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return blocks.flatMap((block): Part[] => {
    if (block.type === "tool_result") return [{ kind: "result", text: resultText(block as ToolResultBlock) }];
    const text = block.type === "text" ? ownWords((block as TextBlock).text) : "";
    return text === "" ? [] : [{ kind: "words", text }];
  });
}

/** The user's words after the last tool result: those before it were answered. */
function wordsOf(parts: Part[]): string {
  return parts
    .slice(parts.findLastIndex(({ kind }) => kind === "result") + 1)
    .map(({ text }) => text)
    .join("\n");
}

/** Without what a runtime tells its model on the side. */
function ownWords(text: string): string {
  return text.replaceAll(/<(system-reminder|command-[a-z]+|local-command-[a-z]+)>[\s\S]*?<\/\1>/g, "").trim();
}

function resultText({ content }: ToolResultBlock): string {
  return typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("\n");
}

/** The reply as content blocks in the provider's shape, and the stop reason that fits. */
function contentOf(reply: Reply) {
  if (reply.kind === "text") return { block: { type: "text", text: reply.text }, stop: "end_turn" };
  const input = { command: reply.command, description: "Run the user's command" };
  return { block: { type: "tool_use", id: newId("toolu"), name: reply.tool, input }, stop: "tool_use" };
}

/** Unique, since it is made here and not in a guest: warm clones would repeat theirs. */
function newId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;
}

function outputTokens(reply: Reply): number {
  return Math.ceil((reply.kind === "text" ? reply.text : reply.command).length / 4) + 1;
}

function wholeMessage({ model }: MessagesRequest, reply: Reply, inputTokens: number) {
  const { block, stop } = contentOf(reply);
  return {
    ...emptyMessage(model, inputTokens),
    content: [block],
    stop_reason: stop,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens(reply) },
  };
}

function emptyMessage(model: string, inputTokens: number) {
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model,
    content: [] as unknown[],
    stop_reason: null as string | null,
    stop_sequence: null,
    usage: { input_tokens: inputTokens, output_tokens: 1 },
  };
}

async function* stream(
  { model }: MessagesRequest,
  reply: Reply,
  inputTokens: number,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const { block, stop } = contentOf(reply);
  yield event("message_start", { message: emptyMessage(model, inputTokens) });
  if (reply.kind === "text") {
    yield event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
    for (const word of reply.text.split(/(?<=\s)(?=\S)/)) {
      yield event("content_block_delta", { index: 0, delta: { type: "text_delta", text: word } });
      await sleep(wordPaceMs, undefined, { signal });
    }
  } else {
    const { input, ...opened } = block as { input: unknown };
    yield event("content_block_start", { index: 0, content_block: { ...opened, input: {} } });
    yield event("content_block_delta", {
      index: 0,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    });
  }
  yield event("content_block_stop", { index: 0 });
  yield event("message_delta", {
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { output_tokens: outputTokens(reply) },
  });
  yield event("message_stop", {});
}

function event(type: string, fields: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}
