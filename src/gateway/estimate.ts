import { isObject, type JsonObject } from "./wires/wire.ts";

// What a model call may come to, before its provider has counted. Only what was never counted is charged by this.

/** Of all the usual tokenizers for text. */
const bytesPerToken = 4;
/** What a request without a limit of its own is taken to write at most. */
const usualMaximumOutput = 4_096;
/** An image costs up to about this; of larger files (a PDF) so many bytes of base64 make one token more. */
const tokensOfFile = 1_600;
const fileBytesPerToken = 200;
/** Shorter ones are counted as text. */
const leastFileLength = 1_024;
const ofFile = /^(data:[^,]{1,100},)?[A-Za-z0-9+/_-]+={0,2}$/;

/** Where the APIs take text for a file in base64. Anywhere else it is text, whatever it looks like. */
const fileFields = new Set(["url", "image_url", "file_data"]);
/** What is below these is shown to the model as it is written. */
const writtenFields = new Set(["tools", "functions", "response_format", "text", "output_config", "output_format"]);
/** More no model writes. */
const mostOutput = 100_000_000;

/** Tokens in so many bytes of text. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/** The tokens of a request: all its text, its tools and names included; files by their size, unless `written`. */
export function inputTokens(request: unknown, written = false): number {
  if (typeof request === "string") return tokensIn(Buffer.byteLength(request));
  if (Array.isArray(request)) {
    return request.reduce((sum: number, part: unknown) => sum + inputTokens(part, written), 0);
  }
  if (!isObject(request)) return 1;
  const below = written || String(request.type).endsWith("tool_use");
  return Object.entries(request).reduce((sum, [name, value]) => {
    const tokens =
      !below && isFile(request, name, value)
        ? tokensOfFile + Math.ceil(value.length / fileBytesPerToken)
        : inputTokens(value, below || writtenFields.has(name));
    return sum + tokensIn(name.length) + tokens;
  }, 0);
}

/** How many tokens the request lets the model write, in all its choices. Which of the limits counts is the provider's to say. */
export function maximumOutput({ max_tokens, max_completion_tokens, max_output_tokens, n }: JsonObject): number {
  const limits = [max_tokens, max_completion_tokens, max_output_tokens].map(numberOf).filter((each) => each !== null);
  const limit = limits.length > 0 ? Math.max(...limits) : usualMaximumOutput;
  return Math.min(limit * Math.max(1, numberOf(n) ?? 1), mostOutput);
}

/** A number, or one that is written as text, which some servers take as well. */
function numberOf(value: unknown): number | null {
  if (typeof value !== "number" && typeof value !== "string") return null;
  const number = Number(value);
  return number >= 0 ? number : null;
}

/** Anthropic's files have `data` beside their `type`, OpenAI's recordings beside their `format`. */
function isFile(holder: JsonObject, name: string, value: unknown): value is string {
  if (typeof value !== "string" || value.length < leastFileLength) return false;
  const isData = name === "data" && (holder.type === "base64" || typeof holder.format === "string");
  return (isData || fileFields.has(name)) && ofFile.test(value);
}
