import type { TokenCounts } from "../../billing/ledger.ts";
import { count, isObject, type JsonObject, objectAt, objectsIn, textOf, type Wire, withoutVersion } from "./wire.ts";

// Anthropic's Messages API: https://docs.anthropic.com/en/api/messages

/** The statuses that errors within a stream would have had as answers. */
const statuses: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** Tools that the runtime runs in the machine. All other Anthropic tools run at Anthropic. */
const runsHere = /^(custom$|bash_|text_editor_|computer_|memory_|tool_search_tool)/;
/** Searches are counted; the others cost only the tokens of their results. */
const priced = new Set(["web_search", "web_fetch", "mcp", "remote_files"]);

export const messages: Wire = {
  name: "messages",
  provider: "anthropic",
  path: "/v1/messages",
  streams: null,
  generates: true,
  adapt(request, { id, instructions }) {
    if (request.metadata !== undefined) request.metadata = { user_id: id };
    // Other tiers, faster output and regions have different prices.
    if (request.service_tier !== undefined) request.service_tier = "standard_only";
    delete request.speed;
    delete request.inference_geo;
    // Other models than the charged one, and a summary whose tokens are not in the answer's total.
    delete request.fallbacks;
    const edits = objectAt(request, "context_management");
    if (Array.isArray(edits.edits))
      edits.edits = objectsIn(edits.edits).filter(({ type }) => !/^compact/.test(String(type)));
    if (instructions) request.system = [...systemBlocks(request.system), { type: "text", text: instructions }];
  },
  remoteWork(request) {
    const tools = objectsIn(request.tools).filter(({ type }) => typeof type === "string" && !runsHere.test(type));
    const names = new Set(tools.map(({ type }) => withoutVersion(String(type))));
    if (objectsIn(request.mcp_servers).length > 0 || names.delete("mcp_toolset")) names.add("mcp");
    const contents = [request.system, ...objectsIn(request.messages).map(({ content }) => content)];
    if (contents.some(hasRemoteFile)) names.add("remote_files");
    return [...names].map((name) => ({ name, priced: priced.has(name) }));
  },
  read(event) {
    switch (event.type) {
      case "content_block_delta": {
        const { text, thinking, partial_json: input } = objectAt(event, "delta");
        return { text: textOf(text ?? thinking ?? input) };
      }
      case "message_start":
        return { tokens: tokensOf(objectAt(event.message, "usage")) };
      case "message_delta":
        return { tokens: tokensOf(objectAt(event, "usage")) };
      case "message_stop":
        return { end: true };
      case "error": {
        const { type, message } = objectAt(event, "error");
        return { error: { status: statuses[String(type)] ?? 500, message: String(message ?? type) } };
      }
      case "message":
        return { tokens: tokensOf(objectAt(event, "usage")), end: true };
      default:
        return {};
    }
  },
  error(status, message) {
    const type = Object.entries(statuses).find(([, known]) => known === status)?.[0] ?? "api_error";
    return { type: "error", error: { type, message } };
  },
};

/** Counts a request's tokens without generating; used by runtimes that watch their context size. */
export const countTokens: Wire = {
  ...messages,
  path: "/v1/messages/count_tokens",
  generates: false,
  read: () => ({ end: true }),
};

/** Whether a message's content, or a tool result in it, refers to a file by URL. */
function hasRemoteFile(content: unknown): boolean {
  return objectsIn(content).some((block) => {
    const { type, content } = objectAt(block, "source");
    return type === "url" || hasRemoteFile(content) || hasRemoteFile(block.content);
  });
}

function systemBlocks(system: unknown): unknown[] {
  if (Array.isArray(system)) return system;
  return typeof system === "string" && system !== "" ? [{ type: "text", text: system }] : [];
}

/** Anthropic counts cache reads and writes separately from `input_tokens`. */
function tokensOf(usage: JsonObject): TokenCounts {
  if (!isObject(usage) || Object.keys(usage).length === 0) return {};
  const { input_tokens: plain, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  const forAnHour = objectAt(usage, "cache_creation").ephemeral_1h_input_tokens;
  const parts = [plain, read, written].filter((part) => typeof part === "number");
  return {
    // Some servers' `message_delta` has only the output.
    ...(typeof plain === "number" ? { input: parts.reduce((sum, part) => sum + part, 0) } : {}),
    ...count("cacheRead", read),
    ...count("cacheWrite", written),
    ...count("cacheWriteHour", forAnHour),
    ...count("output", usage.output_tokens),
    ...count("reasoning", objectAt(usage, "output_tokens_details").thinking_tokens),
    ...count("webSearches", objectAt(usage, "server_tool_use").web_search_requests),
  };
}
