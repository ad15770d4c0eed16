import { parentPort } from "node:worker_threads";
import { type Preparation, prepare, type RawRequest } from "./preparation.ts";

/** Requests for this thread. Their bodies are transferred, not copied. */
parentPort!.on("message", (raw: RawRequest<Uint8Array<ArrayBuffer>>) => {
  const prepared: Preparation = prepare(raw);
  const transfer = "body" in prepared ? [prepared.body.buffer as ArrayBuffer] : [];
  parentPort!.postMessage(prepared, transfer);
});
