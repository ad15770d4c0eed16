import type { IncomingHttpHeaders } from "node:http2";
import type { Wire } from "./wires/wire.ts";

/** A model call as it goes to a provider. */
export interface ModelCall {
  wire: Wire;
  /** The query of the guest's request, with its question mark, or nothing. */
  query: string;
  headers: IncomingHttpHeaders;
  body: Uint8Array;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** The answer of a provider; `body` streams, and ends early by throwing. */
export interface ModelAnswer {
  status: number;
  headers: Record<string, string>;
  body: AsyncIterable<Uint8Array | string>;
}

/** One kind of model API and who answers it. Rejects with `Unreachable` where nobody does. */
export type Provider = (call: ModelCall) => Promise<ModelAnswer>;

/** The provider gave no answer at all: its name is not known, it refuses the connection, it hung up. */
export class Unreachable extends Error {}
