import type { TokenCounts } from "../../billing/ledger.ts";
import { count, isObject, type JsonObject, type Owner, objectAt, objectsIn, textOf, type Wire } from "./wire.ts";

// Google's Gemini API: https://ai.google.dev/api/generate-content
// Protocol buffers' JSON takes each name in two spellings, `systemInstruction` and `system_instruction`.

/** Names of errors: https://cloud.google.com/apis/design/errors#handling_errors */
const names: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  413: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** Tools that the runtime runs in the machine. All others run at Google. */
const runsHere = new Set(["function_declarations", "computer_use"]);
/** Tools that cost only the tokens of their results. A search costs by the query, which answers do not report. */
const priced = new Set(["code_execution", "file_search", "url_context", "mcp_servers", "remote_files"]);

/** An answer in one piece. */
export const generateContent: Wire = {
  name: "gemini",
  provider: "google",
  path: "/models/{model}:generateContent",
  streams: false,
  generates: true,
  adapt(request, owner) {
    delete request.model;
    delete request.labels;
    // Other tiers have different prices.
    for (const name of spellings("serviceTier")) if (request[name] !== undefined) request[name] = "standard";
    instruct(request, owner);
  },
  remoteWork(request) {
    const tools = objectsIn(request.tools).flatMap((tool) => Object.keys(tool).map(snakeCase));
    const work = new Set(tools.filter((name) => !runsHere.has(name)));
    // Content stored at the provider may add tools.
    if (fieldOf(request, "cachedContent") !== undefined) work.add("cached_content");
    const contents = [fieldOf(request, "systemInstruction"), ...objectsIn(request.contents)];
    if (contents.some(hasRemoteFile)) work.add("remote_files");
    return [...work].map((name) => ({ name, priced: priced.has(name) }));
  },
  read(event) {
    if (isObject(event.error)) {
      const { code, message } = event.error;
      const status = Number(code);
      return {
        error: { status: status >= 400 && status < 600 ? status : 500, message: String(message ?? "an error") },
      };
    }
    const candidates = objectsIn(event.candidates);
    const isOver = candidates.some(({ finishReason }) => finishReason) || objectAt(event, "promptFeedback").blockReason;
    return {
      text: candidates.flatMap((candidate) => objectsIn(objectAt(candidate, "content").parts).map(textIn)).join(""),
      tokens: tokensOf(objectAt(event, "usageMetadata")),
      ...(isOver ? { end: true as const } : {}),
    };
  },
  error(status, message) {
    return { error: { code: status, message, status: names[status] ?? (status < 500 ? names[400] : "INTERNAL") } };
  },
};

/** An answer as server-sent events, each a `generateContent` answer with a part of the text. */
export const streamGenerateContent: Wire = {
  ...generateContent,
  path: "/models/{model}:streamGenerateContent",
  streams: true,
};

/** Counts a request's tokens without generating. */
export const countGeminiTokens: Wire = {
  ...generateContent,
  path: "/models/{model}:countTokens",
  generates: false,
  adapt(request, owner) {
    const inner = fieldOf(request, "generateContentRequest");
    // The instructions belong to the request that is counted, which must name the model again.
    if (isObject(inner)) {
      generateContent.adapt(inner, owner);
      inner.model = `models/${String(request.model)}`;
    }
    delete request.model;
  },
  remoteWork(request) {
    const inner = fieldOf(request, "generateContentRequest");
    return generateContent.remoteWork(isObject(inner) ? inner : request);
  },
  read: () => ({ end: true }),
};

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function spellings(name: string): [string, string] {
  return [name, snakeCase(name)];
}

function fieldOf(object: JsonObject, name: string): unknown {
  const [camel, snake] = spellings(name);
  return object[camel] ?? object[snake];
}

function instruct(request: JsonObject, { instructions }: Owner): void {
  if (!instructions) return;
  const before = fieldOf(request, "systemInstruction");
  for (const name of spellings("systemInstruction")) delete request[name];
  const parts = isObject(before) && Array.isArray(before.parts) ? before.parts : [];
  request.systemInstruction = { ...(isObject(before) ? before : {}), parts: [...parts, { text: instructions }] };
}

/** Whether a content, or a function's result in it, refers to a file by its address. */
function hasRemoteFile(content: unknown): boolean {
  return objectsIn(isObject(content) ? content.parts : []).some(
    (part) => fieldOf(part, "fileData") !== undefined || hasRemoteFile(fieldOf(part, "functionResponse")),
  );
}

/** Text and reasoning, a function's input, or a program that the provider runs and its output. */
function textIn(part: JsonObject): string {
  const { args } = objectAt(part, "functionCall");
  const written = [part.text, objectAt(part, "executableCode").code, objectAt(part, "codeExecutionResult").output];
  return written.map(textOf).join("") + (args === undefined ? "" : JSON.stringify(args));
}

/**
 * The prompt includes what was cached; the results of the provider's own tools and the thoughts are counted separately.
 * Counts of a stream's events are totals.
 */
function tokensOf(usage: JsonObject): TokenCounts {
  const { promptTokenCount: prompt, candidatesTokenCount: written, thoughtsTokenCount: thoughts } = usage;
  return {
    ...sum("input", prompt, usage.toolUsePromptTokenCount),
    ...sum("output", written, thoughts),
    ...count("cacheRead", usage.cachedContentTokenCount),
    ...count("reasoning", thoughts),
    ...count("inputAudio", audioIn(usage.promptTokensDetails)),
    ...count("outputAudio", audioIn(usage.candidatesTokensDetails)),
  };
}

/** Empty if the provider has counted neither. */
function sum(name: "input" | "output", ...parts: unknown[]): TokenCounts {
  const counted = parts.filter((part): part is number => typeof part === "number" && part >= 0);
  return counted.length === 0 ? {} : { [name]: counted.reduce((total, part) => total + part, 0) };
}

function audioIn(details: unknown): unknown {
  return objectsIn(details).find(({ modality }) => modality === "AUDIO")?.tokenCount;
}
