import {
  count,
  isObject,
  isRemote,
  type JsonObject,
  objectAt,
  objectsIn,
  type RemoteWork,
  textOf,
  type Wire,
  withoutVersion,
} from "./wire.ts";

// OpenAI's Chat Completions: https://platform.openai.com/docs/api-reference/chat

/** The fields that identify users and sessions in OpenAI's APIs. */
const namesOfUsers = ["user", "safety_identifier", "prompt_cache_key"];

export const chat: Wire = {
  name: "chat",
  provider: "openai",
  path: "/chat/completions",
  streams: null,
  generates: true,
  adapt(request, { id, instructions }) {
    nameUser(request, id);
    pinTariff(request);
    // Other models than the charged one, as OpenRouter accepts them.
    delete request.models;
    // Without it, the stream has no token counts.
    if (request.stream === true)
      request.stream_options = { ...objectAt(request, "stream_options"), include_usage: true };
    if (instructions) request.messages = withInstructions(request.messages, instructions);
  },
  remoteWork(request) {
    const names = new Set(hostedTools(request.tools));
    // Search models search without being asked; `:online` is OpenRouter's way to request it.
    const isSearching = /search|:online$/.test(String(request.model));
    if (request.web_search_options !== undefined || isSearching) names.add("web_search");
    for (const { id } of objectsIn(request.plugins)) names.add(String(id));
    const parts = objectsIn(request.messages).flatMap(({ content }) => objectsIn(content));
    if (parts.some(hasRemoteUrl)) names.add("remote_files");
    return [...names].map(workOf);
  },
  read(event) {
    const { usage, choices } = event;
    const error = errorOf(event);
    if (error) return { error };
    const told = Array.isArray(choices) ? choices.filter(isObject) : [];
    const finished = told.some((choice) => choice.finish_reason);
    return {
      text: told.map((choice) => textOfDelta(objectAt(choice, "delta"))).join(""),
      ...(isObject(usage) ? { tokens: tokensOf(usage) } : {}),
      ...(finished ? { end: true as const } : {}),
    };
  },
  error: openaiError,
};

/** Compatible servers send a model's reasoning under one of two names. */
function textOfDelta(delta: JsonObject): string {
  const { content, refusal, reasoning_content, reasoning, tool_calls: calls } = delta;
  const transcript = textOf(objectAt(delta, "audio").transcript);
  const inputs = Array.isArray(calls) ? calls.map((call) => textOf(objectAt(call, "function").arguments)) : [];
  // The older API for calling a single function, before tools.
  inputs.push(textOf(objectAt(delta, "function_call").arguments));
  return [textOf(content), textOf(refusal), textOf(reasoning_content ?? reasoning), transcript, ...inputs].join("");
}

/** `image_url`, and what compatible servers add to it: `video_url`, `audio_url`. */
function hasRemoteUrl(part: JsonObject): boolean {
  return Object.entries(part).some(
    ([name, value]) => name.endsWith("_url") && isRemote(isObject(value) ? value.url : value),
  );
}

/** Tools that the runtime runs in the machine. All other OpenAI tools run at OpenAI. */
const runsHere = new Set([
  "function",
  "custom",
  "local_shell",
  "shell",
  "apply_patch",
  "computer",
  "computer_use",
  "namespace",
  "tool_search",
]);
/** Tools that cost only the tokens of their results. OpenAI's others cost per call, which answers do not report. */
const priced = new Set(["mcp", "remote_files"]);

/** The hosted tools in a request, without their versions. */
export function hostedTools(tools: unknown): string[] {
  return objectsIn(tools).flatMap((tool) => {
    const name = withoutVersion(String(tool.type));
    // A shell runs here unless it names a container of OpenAI's.
    const isElsewhere =
      name === "shell" && tool.environment !== undefined && objectAt(tool, "environment").type !== "local";
    return [...hostedTools(tool.tools), ...(runsHere.has(name) && !isElsewhere ? [] : [name])];
  });
}

export function workOf(name: string): RemoteWork {
  return { name, priced: priced.has(name) };
}

/** Other tiers have different prices. */
export function pinTariff(request: JsonObject): void {
  if (request.service_tier !== undefined) request.service_tier = "default";
}

export function nameUser(request: JsonObject, id: string): void {
  for (const name of namesOfUsers) if (request[name] !== undefined) request[name] = id;
}

/** An error in the shape that both of OpenAI's APIs use. */
export function openaiError(status: number, message: string): JsonObject {
  const type = status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, param: null, code: null } };
}

/** Reads an error within a stream; some compatible servers use the status as its code. */
export function errorOf(event: JsonObject): { status: number; message: string } | null {
  if (!isObject(event.error)) return null;
  const { code, message } = event.error;
  const status = Number(code);
  return { status: status >= 400 && status < 600 ? status : 500, message: String(message ?? "an error") };
}

/** Merged into a leading system message, if there is one: many servers' templates allow only one. */
function withInstructions(messages: unknown, instructions: string): unknown {
  if (!Array.isArray(messages)) return messages;
  const [first, ...rest] = messages as unknown[];
  if (!isObject(first) || (first.role !== "system" && first.role !== "developer")) {
    return [{ role: "system", content: instructions }, ...messages];
  }
  const content = Array.isArray(first.content)
    ? [...first.content, { type: "text", text: instructions }]
    : `${String(first.content ?? "")}\n\n${instructions}`;
  return [{ ...first, content }, ...rest];
}

function tokensOf(usage: JsonObject) {
  return {
    ...count("input", usage.prompt_tokens),
    ...count("output", usage.completion_tokens),
    ...count("cacheRead", objectAt(usage, "prompt_tokens_details").cached_tokens),
    ...count("reasoning", objectAt(usage, "completion_tokens_details").reasoning_tokens),
    ...count("inputAudio", objectAt(usage, "prompt_tokens_details").audio_tokens),
    ...count("outputAudio", objectAt(usage, "completion_tokens_details").audio_tokens),
  };
}
