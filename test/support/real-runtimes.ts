import { randomUUID } from "node:crypto";
import { usualProvider } from "../../src/providers/directory.ts";
import { runtimes as all } from "../../src/runtimes/all.ts";
import type { Fault } from "./model-proxy.ts";

// Real runtimes before a server that speaks every provider's API.

/** Those with a package in the image. `acp` has a test of its own. */
export const runtimes = all.filter((runtime) => runtime.package !== null);

/** The models that such a server has to list. */
export const realModels = [
  ...["claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5", "gpt-5-mini"],
  ...["gemini-3-pro-preview", "gemini-2.5-flash"],
];

/** Settings of an installation whose providers are all at this address. */
export function providersAt(url: string) {
  const apiKey = "the-key";
  return {
    anthropic: { baseUrl: url, apiKey },
    openai: { baseUrl: `${url}/v1`, apiKey },
    google: { baseUrl: `${url}/v1beta`, apiKey },
  };
}

/** The provider over whose API the runtime is tested: Anthropic if it can use it. */
export function providerOf(runtime: string): "anthropic" | "openai" | "google" {
  const { wires } = runtimes.find(({ name }) => name === runtime)!;
  return usualProvider(wires.find((wire) => wire === "messages") ?? wires[0]!);
}

/** Of each provider, the model that is usual here, and another one. */
const modelsOf = {
  anthropic: ["claude-sonnet-4-5", "claude-haiku-4-5"],
  openai: ["gpt-5", "gpt-5-mini"],
  google: ["gemini-3-pro-preview", "gemini-2.5-flash"],
} as const;

export function modelOf(runtime: string): string {
  const provider = providerOf(runtime);
  return `${provider}/${modelsOf[provider][0]}`;
}

/** Another model of the same provider. */
export function otherModelOf(runtime: string): string {
  const provider = providerOf(runtime);
  return `${provider}/${modelsOf[provider][1]}`;
}

/** The name by which the model that `use:` names calls a tool of an MCP server. */
export function toolName(runtime: string, server: string, tool: string): string {
  if (runtime === "gemini-cli") return `mcp_${server}_${tool}`;
  return `${server}${runtime === "opencode" ? "_" : "__"}${tool}`;
}

/** The answer of a model that uses a tool, as its API streams it. */
export function toolUse(runtime: string, name: string, input: object): Fault {
  const uses = { anthropic: messagesUse, openai: responsesUse, google: geminiUse };
  const events: { type?: string; candidates?: unknown }[] = uses[providerOf(runtime)](name, input);
  const nameOf = ({ type }: { type?: string }) => (type === undefined ? "" : `event: ${type}\n`);
  const text = events.map((event) => `${nameOf(event)}data: ${JSON.stringify(event)}\n\n`).join("");
  return { status: 200, headers: { "content-type": "text/event-stream" }, text };
}

function messagesUse(name: string, input: object) {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  const block = { type: "tool_use", id: `toolu_${randomUUID().replaceAll("-", "")}`, name, input: {} };
  const usage = { input_tokens: 9, output_tokens: 1 };
  return [
    { type: "message_start", message: { ...message, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ];
}

function responsesUse(tool: string, input: object) {
  const [namespace, name] = namespaced(tool);
  const call = { name, ...(namespace && { namespace }), arguments: JSON.stringify(input) };
  const id = randomUUID().replaceAll("-", "");
  const item = { id: `fc_${id}`, type: "function_call", status: "completed", call_id: `call_${id}`, ...call };
  const usage = { input_tokens: 9, output_tokens: 9, total_tokens: 18 };
  const response = { id: `resp_${id}`, object: "response", created_at: 0, model: "m", error: null };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "", status: "in_progress" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
  ];
}

function geminiUse(name: string, args: object) {
  const content = { role: "model", parts: [{ functionCall: { id: randomUUID(), name, args } }] };
  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 };
  return [{ candidates: [{ content, finishReason: "STOP", index: 0 }], usageMetadata }];
}

/** Codex offers the tools of an MCP server in a namespace, `mcp__SERVER`. */
function namespaced(tool: string): [string | null, string] {
  const [, namespace, name] = /^(mcp__.+)__(.+)$/.exec(tool) ?? [];
  return namespace && name ? [namespace, name] : [null, tool];
}

/** A tool in a request to a model. */
export interface OfferedTool {
  name: string;
  schema: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: requests of all APIs
export function toolsIn(body: any): OfferedTool[] {
  // biome-ignore lint/suspicious/noExplicitAny: requests of all APIs
  return (body.tools ?? []).flatMap((tool: any) => {
    if (tool.functionDeclarations) return toolsIn({ tools: tool.functionDeclarations });
    return tool.type === "namespace"
      ? toolsIn(tool).map(({ name, schema }) => ({ name: `${tool.name}__${name}`, schema }))
      : [{ name: tool.name ?? "", schema: tool.input_schema ?? tool.parametersJsonSchema ?? tool.parameters }];
  });
}
