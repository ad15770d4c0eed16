import { isObject, type JsonObject, objectAt } from "./wires/wire.ts";

// Estimates of a model call's tokens before the provider has counted. Used for charges only where the provider reported
// no counts.

/** Typical for common text tokenizers. */
const bytesPerToken = 4;
/** Assumed maximum output of a request that sets no limit. */
const usualMaximumOutput = 4_096;
/** An image costs at most about this. Larger files (such as PDFs) add a token per `fileBytesPerToken` of base64. */
const tokensOfFile = 1_600;
const fileBytesPerToken = 200;
/** Shorter ones are counted as text. */
const leastFileLength = 1_024;
const ofFile = /^(data:[^,]{1,100},)?[A-Za-z0-9+/_-]+={0,2}$/;

/** Fields in which the APIs accept a base64 file. Elsewhere it is text, whatever it looks like. */
const fileFields = new Set(["url", "image_url", "file_data"]);
/** Everything below these fields is shown to the model verbatim. */
const writtenFields = new Set([
  ...["tools", "functions", "response_format", "text", "output_config", "output_format"],
  ...["functionCall", "function_call", "response", "generationConfig", "generation_config"],
]);
/** No model writes more. */
const mostOutput = 100_000_000;

/** Estimated tokens in this many bytes of text. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/** Estimated tokens of a request: all its text, including tools and names. Files count by size, unless `written`. */
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

/** The most tokens that the model may write, in all choices. Takes the largest limit, because providers differ. */
export function maximumOutput(request: JsonObject): number {
  // Google's are below one of these.
  const holders = [request, objectAt(request, "generationConfig"), objectAt(request, "generation_config")];
  const limit = largestAt(holders, ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"]);
  const choices = largestAt(holders, ["n", "candidateCount", "candidate_count"]) ?? 1;
  return Math.min((limit ?? usualMaximumOutput) * Math.max(1, choices), mostOutput);
}

/** The largest number at these names; null: there is none. */
function largestAt(holders: readonly JsonObject[], names: readonly string[]): number | null {
  const numbers = holders.flatMap((holder) => names.map((name) => numberOf(holder[name])));
  return numbers.reduce((largest, each) => (largest === null || (each ?? -1) > largest ? each : largest), null);
}

/** A number, or a numeric string, which some servers accept too. */
function numberOf(value: unknown): number | null {
  if (typeof value !== "number" && typeof value !== "string") return null;
  const number = Number(value);
  return number >= 0 ? number : null;
}

/** Anthropic's files have `data` next to `type`, OpenAI's recordings next to `format`, Google's files next to `mimeType`. */
function isFile(holder: JsonObject, name: string, value: unknown): value is string {
  if (typeof value !== "string" || value.length < leastFileLength) return false;
  const isTyped = [holder.format, holder.mimeType, holder.mime_type].some((each) => typeof each === "string");
  const isData = name === "data" && (holder.type === "base64" || isTyped);
  return (isData || fileFields.has(name)) && ofFile.test(value);
}
