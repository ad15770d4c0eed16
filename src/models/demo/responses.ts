import type { JsonObject } from "../wires/wire.ts";
import { type Dialect, newId, type Part, type Reply, type Tokens, textOf, wordsIn } from "./dialect.ts";

interface Item {
  type?: string;
  role?: string;
  content?: unknown;
  output?: unknown;
}

/** Codex's note about a tool's call, before what it printed. */
const codexHead = /^(?:Chunk ID|Wall time): [\s\S]*?\nOutput:\n/;

/** A tool, or a namespace with tools: Codex offers those of an MCP server in one, `mcp__SERVER`. */
interface Offered {
  type?: string;
  name?: string;
  tools?: unknown;
}

/** OpenAI's Responses: https://platform.openai.com/docs/api-reference/responses-streaming */
export const responsesDialect: Dialect = {
  read({ input, tools }) {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
    if (!Array.isArray(items)) return null;
    const turns = (items as Item[]).flatMap(({ type, role, content, output }): Part[][] => {
      if (type === "function_call_output") return [[{ kind: "result", text: textOf(output).replace(codexHead, "") }]];
      return role === "user" ? [[{ kind: "words", text: textOf(content) }]] : [];
    });
    const offered = Array.isArray(tools) ? (tools as Offered[]) : [];
    return { turns, tools: offered.flatMap(namesOf) };
  },
  whole: (reply, model, tokens) => finished(newId("resp_"), model, itemOf(reply), tokens),
  *stream(reply, model, tokens) {
    const id = newId("resp_");
    const item = itemOf(reply);
    const begun = { ...finished(id, model, item, tokens), status: "in_progress", output: [], usage: null };
    let sequence_number = 0;
    const event = (type: string, fields: JsonObject) => ({
      name: type,
      data: { type, sequence_number: sequence_number++, ...fields },
    });
    const place = { item_id: item.id, output_index: 0 };
    yield event("response.created", { response: begun });
    yield event("response.output_item.added", { output_index: 0, item: { ...item, ...opened(reply) } });
    if (reply.kind === "text") {
      const part = { ...place, content_index: 0 };
      const text = (words: string) => ({ type: "output_text", text: words, annotations: [] });
      yield event("response.content_part.added", { ...part, part: text("") });
      for (const delta of wordsIn(reply.text)) {
        yield { ...event("response.output_text.delta", { ...part, delta, logprobs: [] }), word: true };
      }
      yield event("response.output_text.done", { ...part, text: reply.text, logprobs: [] });
      yield event("response.content_part.done", { ...part, part: text(reply.text) });
    } else {
      yield event("response.function_call_arguments.delta", { ...place, delta: item.arguments });
      yield event("response.function_call_arguments.done", { ...place, name: item.name, arguments: item.arguments });
    }
    yield event("response.output_item.done", { output_index: 0, item });
    yield event("response.completed", { response: finished(id, model, item, tokens) });
  },
};

function namesOf({ type, name = "", tools }: Offered): string[] {
  if (type !== "namespace") return [name];
  return Array.isArray(tools) ? (tools as Offered[]).map((tool) => `${name}__${tool.name}`) : [];
}

function itemOf(reply: Reply): JsonObject {
  if (reply.kind === "text") {
    const content = [{ type: "output_text", text: reply.text, annotations: [] }];
    return { id: newId("msg_"), type: "message", role: "assistant", status: "completed", content };
  }
  const [, namespace, name] = /^(mcp__.+)__(.+)$/.exec(reply.tool) ?? [];
  const call = { name: name ?? reply.tool, ...(namespace && { namespace }), arguments: JSON.stringify(reply.input) };
  return { id: newId("fc_"), type: "function_call", status: "completed", call_id: newId("call_"), ...call };
}

/** The fields of an item that has just begun. */
function opened(reply: Reply): JsonObject {
  return { status: "in_progress", ...(reply.kind === "text" ? { content: [] } : { arguments: "" }) };
}

function finished(id: string, model: string, item: JsonObject, { input, output }: Tokens): JsonObject {
  return {
    id,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "completed",
    model,
    output: [item],
    error: null,
    incomplete_details: null,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}
