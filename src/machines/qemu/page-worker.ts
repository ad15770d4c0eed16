import { parentPort } from "node:worker_threads";
import type { Job } from "./page-jobs.ts";
import { compressPages, crcOfFile, loadPages, savePages } from "./pages.ts";

// The thread that works on guests' memory, one job at a time.

parentPort!.on("message", async (job: Job) => {
  try {
    parentPort!.postMessage({ value: await run(job) });
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    parentPort!.postMessage({ error: { message, code } });
  }
});

async function run(job: Job): Promise<unknown> {
  switch (job.kind) {
    case "save":
      return savePages(job);
    case "load":
      return loadPages(job);
    case "compress":
      return compressPages(job);
    case "crc":
      return crcOfFile(job.file);
  }
}
