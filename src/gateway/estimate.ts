import { isObject, type JsonObject } from "./wires/wire.ts";

// What a model call may come to, before its provider has counted. Only what was never counted is charged by this.

/** Of all the usual tokenizers for text. */
const bytesPerToken = 4;
/** What a request without a limit of its own is taken to write at most. */
const usualMaximumOutput = 4_096;
/** An image costs up to about this; of larger files (a PDF) so many bytes of base64 make one token more. */
const tokensOfFile = 1_600;
const fileBytesPerToken = 200;
/** Text of a length is taken for a file's where it has no space and nothing else that base64 has not. */
const leastFileLength = 1_024;
const ofFile = /^(data:[^,]{1,100},)?[A-Za-z0-9+/_-]+={0,2}$/;

/** Tokens in so many bytes of text. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/** The tokens of a request: all its text, its tools and names included; files by their size. */
export function inputTokens(request: unknown): number {
  if (typeof request === "string") return tokensOfText(request);
  if (Array.isArray(request)) return request.reduce((sum: number, part: unknown) => sum + inputTokens(part), 0);
  if (!isObject(request)) return 1;
  return Object.entries(request).reduce((sum, [name, value]) => sum + tokensIn(name.length) + inputTokens(value), 0);
}

/** How many tokens the request lets the model write. */
export function maximumOutput({ max_tokens, max_completion_tokens, max_output_tokens }: JsonObject): number {
  const limit = max_tokens ?? max_completion_tokens ?? max_output_tokens;
  return typeof limit === "number" && limit >= 0 ? limit : usualMaximumOutput;
}

function tokensOfText(text: string): number {
  if (text.length < leastFileLength || !ofFile.test(text)) return tokensIn(Buffer.byteLength(text));
  return tokensOfFile + Math.ceil(text.length / fileBytesPerToken);
}
