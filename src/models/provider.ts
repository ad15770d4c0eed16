import type { IncomingHttpHeaders } from "node:http2";
import type { Wire } from "./wires/wire.ts";

/** A model call as sent to a provider. */
export interface ModelCall {
  wire: Wire;
  /** The model's name in the guest's request. */
  model: string;
  /** Whether the answer streams. */
  streamed: boolean;
  /** The query of the guest's request with its question mark, or empty. */
  query: string;
  headers: IncomingHttpHeaders;
  body: Uint8Array;
  /** Aborted when the caller no longer waits for the answer. */
  signal: AbortSignal;
}

/** A provider's answer. `body` streams, and throws if it ends early. */
export interface ModelAnswer {
  status: number;
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array | string>;
}

/** Sends calls to one model API. Rejects with `Unreachable` if the provider does not respond. */
export type Provider = (call: ModelCall) => Promise<ModelAnswer>;

/** The provider did not respond: its name did not resolve, or the connection was refused or closed. */
export class Unreachable extends Error {}

/** A subscription's login has failed or is not finished: the message says how to connect it. */
export class LoginFailed extends Error {}

/** The limit of a refusal's text, in characters. */
const maximumRefusal = 64 * 1024;

/** A refusal's text, or its beginning. */
export async function beginningOf(body: ModelAnswer["body"]): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > maximumRefusal) break;
  }
  return text;
}
