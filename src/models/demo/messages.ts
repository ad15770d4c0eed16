import type { JsonObject } from "../wires/wire.ts";
import { type Dialect, newId, type Part, type Reply, type Tokens, textOf, textOfBlock, wordsIn } from "./dialect.ts";

interface Block {
  type: string;
  text?: string;
  content?: unknown;
}

/** Anthropic's Messages: https://docs.anthropic.com/en/api/messages-streaming */
export const messagesDialect: Dialect = {
  read({ messages, tools }) {
    if (!Array.isArray(messages)) return null;
    const mine = (messages as { role: string; content: string | Block[] }[]).filter(({ role }) => role === "user");
    const offered = Array.isArray(tools) ? (tools as { name: string }[]) : [];
    return { turns: mine.map(({ content }) => partsOf(content)), tools: offered.map(({ name }) => name) };
  },
  whole: (reply, model, tokens) => ({
    ...emptyMessage(model, tokens),
    content: [contentOf(reply)],
    stop_reason: stopOf(reply),
    usage: { input_tokens: tokens.input, output_tokens: tokens.output },
  }),
  *stream(reply, model, tokens) {
    yield event("message_start", { message: emptyMessage(model, tokens) });
    const block = contentOf(reply);
    if (reply.kind === "text") {
      yield event("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      for (const text of wordsIn(reply.text)) {
        yield { ...event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }), word: true };
      }
    } else {
      yield event("content_block_start", { index: 0, content_block: { ...block, input: {} } });
      const partial_json = JSON.stringify(block.input);
      yield event("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json } });
    }
    yield event("content_block_stop", { index: 0 });
    yield event("message_delta", {
      delta: { stop_reason: stopOf(reply), stop_sequence: null },
      usage: { output_tokens: tokens.output },
    });
    yield event("message_stop", {});
  },
};

function partsOf(content: string | Block[]): Part[] {
  if (typeof content === "string") return [{ kind: "words", text: content }];
  return content.flatMap((block): Part[] => {
    if (block.type === "tool_result") return [{ kind: "result", text: textOf(block.content) }];
    return [{ kind: "words", text: textOfBlock(block) }];
  });
}

function contentOf(reply: Reply): JsonObject {
  if (reply.kind === "text") return { type: "text", text: reply.text };
  return { type: "tool_use", id: newId("toolu_"), name: reply.tool, input: reply.input };
}

function stopOf(reply: Reply): string {
  return reply.kind === "text" ? "end_turn" : "tool_use";
}

function emptyMessage(model: string, { input }: Tokens): JsonObject {
  return {
    id: newId("msg_"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: input, output_tokens: 1 },
  };
}

function event(type: string, fields: JsonObject) {
  return { name: type, data: { type, ...fields } };
}
