import type { JsonObject } from "../wires/wire.ts";
import { type Dialect, newId, type Part, type Reply, type Tokens, textOf, wordsIn } from "./dialect.ts";

/** OpenAI's Chat Completions: https://platform.openai.com/docs/api-reference/chat/streaming */
export const chatDialect: Dialect = {
  read({ messages, tools }) {
    if (!Array.isArray(messages)) return null;
    const turns = (messages as { role: string; content: unknown }[]).flatMap(({ role, content }): Part[][] => {
      if (role === "tool") return [[{ kind: "result", text: textOf(content) }]];
      return role === "user" ? [[{ kind: "words", text: textOf(content) }]] : [];
    });
    const offered = Array.isArray(tools) ? (tools as { function?: { name?: string } }[]) : [];
    return { turns, tools: offered.map((tool) => tool.function?.name ?? "") };
  },
  whole: (reply, model, tokens) => ({
    ...head("chat.completion", model),
    choices: [
      {
        index: 0,
        message:
          reply.kind === "text"
            ? { role: "assistant", content: reply.text }
            : { role: "assistant", content: null, tool_calls: [callOf(reply)] },
        finish_reason: finishOf(reply),
      },
    ],
    usage: usageOf(tokens),
  }),
  *stream(reply, model, tokens) {
    const base = head("chat.completion.chunk", model);
    const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
      data: { ...base, choices: [{ index: 0, delta, finish_reason }] },
    });
    yield chunk({ role: "assistant", content: reply.kind === "text" ? "" : null });
    if (reply.kind === "text") {
      for (const content of wordsIn(reply.text)) yield { ...chunk({ content }), word: true };
    } else {
      yield chunk({ tool_calls: [{ index: 0, ...callOf(reply) }] });
    }
    yield chunk({}, finishOf(reply));
    yield { data: { ...base, choices: [], usage: usageOf(tokens) } };
    yield { data: "[DONE]" };
  },
};

function head(object: string, model: string): JsonObject {
  return { id: newId("chatcmpl-"), object, created: Math.floor(Date.now() / 1000), model };
}

function callOf({ tool, input }: Extract<Reply, { kind: "tool" }>): JsonObject {
  const call = { name: tool, arguments: JSON.stringify(input) };
  return { id: newId("call_"), type: "function", function: call };
}

function finishOf(reply: Reply): string {
  return reply.kind === "text" ? "stop" : "tool_calls";
}

function usageOf({ input, output }: Tokens): JsonObject {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}
