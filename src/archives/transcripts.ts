import { Worker } from "node:worker_threads";
import { BerthError } from "../contract/errors.ts";
import { clientGone } from "../core/http/gone.ts";
import type { ImportedItem } from "../turns/transcript.ts";
import { invalid } from "./read.ts";
import type { TranscriptAnswer, TranscriptJob } from "./transcript-worker.ts";

/** The heap of a thread, in MiB. The longest allowed line takes a third of it. */
const heapMiB = 512;

/**
 * Reads a transcript in a separate thread, one item at a time: a line of 16 MiB takes up to a second. Throws
 * `archive_invalid`, and `request_timeout` as soon as `gone` aborts. The thread ends with the generator.
 */
export async function* readTranscript(job: TranscriptJob, gone: AbortSignal): AsyncGenerator<ImportedItem> {
  const worker = new Worker(new URL("./transcript-worker.ts", import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB },
    env: {},
  });
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {}); // The thread may end between two items.
  worker.on("error", (error: NodeJS.ErrnoException) => {
    over.reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? invalid("its transcript takes too much memory") : error);
  });
  worker.on("exit", () => over.reject(new Error("the thread for transcripts has ended")));
  const abort = () => over.reject(clientGone());
  gone.addEventListener("abort", abort);
  if (gone.aborted) abort();
  try {
    for (;;) {
      const answered = new Promise<TranscriptAnswer>((resolve) => worker.once("message", resolve));
      worker.postMessage("next");
      const answer = await Promise.race([answered, over.promise]);
      if ("refusal" in answer) throw new BerthError("archive_invalid", answer.refusal);
      if ("fault" in answer) throw new Error(answer.fault);
      if ("done" in answer) return;
      yield answer.item;
    }
  } finally {
    gone.removeEventListener("abort", abort);
    await worker.terminate();
  }
}
