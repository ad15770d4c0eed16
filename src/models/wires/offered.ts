import { chat } from "./chat.ts";
import { countGeminiTokens, generateContent, streamGenerateContent } from "./gemini.ts";
import { countTokens, messages } from "./messages.ts";
import { responses } from "./responses.ts";
import type { Wire } from "./wire.ts";

const ofGemini = [generateContent, streamGenerateContent, countGeminiTokens];

/** All APIs, by path, because a path can be passed to a thread. */
export const wires: ReadonlyMap<string, Wire> = new Map(
  [messages, countTokens, chat, responses, ...ofGemini].map((wire) => [wire.path, wire]),
);

/** The only paths that guests may call. OpenAI's SDKs have `/v1` in their base URL, and Google's `/v1beta`. */
const offered = new Map<string, Wire>([
  ...[messages, countTokens].map((wire) => [`/anthropic${wire.path}`, wire] as const),
  ...[chat, responses].map((wire) => [`/openai/v1${wire.path}`, wire] as const),
  ...ofGemini.map((wire) => [`/google/v1beta${wire.path}`, wire] as const),
]);

/** A model's name in the path. */
const inPath = /(?<=\/models\/)[^/]+(?=:\w+$)/;
/** Printable, without a separator of paths. */
const modelName = /^[\x21-\x7e]{1,200}$/;

/** A call by its address. */
export interface OfferedCall {
  wire: Wire;
  /** The model that the path names; null: the body names it. */
  model: string | null;
  /** For the provider: with its question mark, or empty. */
  query: string;
}

/** The call of a guest at this path with its query, `/PROVIDER/PATH?QUERY`; null: there is none. */
export function callAt(address: string): OfferedCall | null {
  const [path = "", query] = address.split("?");
  const plain = offered.get(path);
  if (plain) return plain.path.includes("{") ? null : { wire: plain, model: null, query: query ? `?${query}` : "" };
  const wire = offered.get(path.replace(inPath, "{model}"));
  const model = decoded(inPath.exec(path)?.[0] ?? "");
  if (!wire || model === null || !modelName.test(model) || /[\\/]/.test(model)) return null;
  // The query may hold a key, as Google's API accepts one there.
  return { wire, model, query: wire.streams ? "?alt=sse" : "" };
}

/** A wire's path for a model. */
export function pathOf({ path }: Wire, model: string): string {
  return path.replace("{model}", () => encodeURIComponent(model));
}

/** The API whose clients would request this path. */
export function nearestWire(path: string): Wire {
  return path.startsWith("/openai/") ? chat : path.startsWith("/google/") ? generateContent : messages;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
