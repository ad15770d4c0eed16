import { parentPort } from "node:worker_threads";
import { type Preparation, prepare } from "./preparation.ts";
import type { Owner } from "./wires/wire.ts";

/** A request for this thread. `body` is transferred, not copied. */
export interface PreparationJob {
  path: string;
  body: Uint8Array<ArrayBuffer>;
  owner: Owner;
}

parentPort!.on("message", ({ path, body, owner }: PreparationJob) => {
  const prepared: Preparation = prepare(path, body, owner);
  const transfer = "body" in prepared ? [prepared.body.buffer as ArrayBuffer] : [];
  parentPort!.postMessage(prepared, transfer);
});
