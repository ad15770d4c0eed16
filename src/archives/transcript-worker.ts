import { parentPort, workerData } from "node:worker_threads";
import { BerthError } from "../contract/errors.ts";
import type { ImportedItem } from "../turns/transcript.ts";
import { transcriptRows } from "./transcript-rows.ts";

/** The transcript that a thread reads. */
export interface TranscriptJob {
  file: string;
  now: Date;
}

/** The answer to each request for the next item. `refusal`: the message of an `archive_invalid`. */
export type TranscriptAnswer = { item: ImportedItem } | { done: true } | { refusal: string } | { fault: string };

const { file, now } = workerData as TranscriptJob;
const items = transcriptRows(file, now);

parentPort!.on("message", async () => parentPort!.postMessage(await next()));

async function next(): Promise<TranscriptAnswer> {
  try {
    const { done, value } = await items.next();
    return done ? { done } : { item: value };
  } catch (error) {
    return error instanceof BerthError ? { refusal: error.message } : { fault: String(error) };
  }
}
