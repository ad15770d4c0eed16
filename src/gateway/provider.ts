import type { IncomingHttpHeaders } from "node:http2";

/** A model call as it came from a guest. Nothing in it is trusted. */
export interface ModelCall {
  method: string;
  /** The provider's own path, `/v1/messages`, with its query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Aborted when the guest goes away or the turn is interrupted. */
  signal: AbortSignal;
}

/** The answer of a provider; `body` streams, and ends early by throwing. */
export interface ModelAnswer {
  status: number;
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array | string>;
}

/** Answers calls in the wire format of one kind of model API. */
export type Provider = (call: ModelCall) => Promise<ModelAnswer>;
