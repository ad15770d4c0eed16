import type { IncomingHttpHeaders } from "node:http2";
import type { Framing } from "../../models/framing.ts";
import type { ModelAnswer, ModelCall } from "../../models/provider.ts";

/** An answer of a provider, and the request that it is for. */
export interface Answered {
  status: number;
  /** The header. */
  date: unknown;
  asked: HttpRequest;
  /** From 1. */
  attempt: number;
}

export interface HttpRequest {
  url: string;
  headers: Record<string, string>;
}

/** Sends a small request to another address than the model's; a provider's token service. */
export type SendForm = (
  url: string,
  form: URLSearchParams,
) => Promise<{ status: number; date: unknown; body: unknown }>;

/** An API of a provider: its addresses, its credentials, and how it frames a wire's requests and answers. */
export interface Endpoint {
  /** Null: bodies are sent as guests write them. */
  readonly framing: Framing["kind"] | null;
  /** The answer's headers that are forwarded to the guest. */
  readonly answered: readonly string[];
  /** Null: the provider does not offer the call. Throws `CredentialsRefused`, `LoginFailed`. */
  request(call: ModelCall, sendForm: SendForm): Promise<HttpRequest | null>;
  /** The request for the list of models; null: the provider has none. */
  listing(): HttpRequest | null;
  /** The names in the list's items. */
  nameOf(id: string): string;
  /** The answer in the wire's own framing. */
  unframed(answer: ModelAnswer): ModelAnswer;
  /** Whether a refused call is worth another attempt: with the provider's time, or with a new token. Throws `LoginFailed`. */
  mayRetry(answered: Answered): boolean | Promise<boolean>;
}

/** The provider gave no token for the credentials. */
export class CredentialsRefused extends Error {}

/** The headers of these names. */
export function pick(headers: NodeJS.Dict<string | string[]> | IncomingHttpHeaders, names: readonly string[]) {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) picked[name] = String(value);
  }
  return picked;
}
