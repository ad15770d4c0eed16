import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import {
  maximumOutputBytes,
  maximumOutputLevels,
  type OutputIssue,
  type OutputSchema,
  type OutputValue,
} from "../../contract/output.ts";
import { structureOf } from "../json-structure.ts";
import { requireUsable, SchemaFault } from "./structure.ts";
import type { SchemaAnswer, SchemaJob } from "./thread.ts";
import { schemaThreadArgument } from "./thread-argument.ts";

/** How long the server works on a schema and a value, and the heap for it. A usual schema takes some milliseconds. */
const serverMs = 2_000;
/** The same in a machine, which may be emulated: that takes twenty times as long. */
export const machineMs = 10_000;
const heapMiB = 64;

const tooSlow = "The schema takes too long to check, or too much memory. Simplify its patterns and references.";

/**
 * Checks a schema. Throws `SchemaFault`. A linear engine for regular expressions would not be enough, because references
 * and `uniqueItems` can take exponential or quadratic time, so all is done in a thread with a limit.
 */
export async function checkSchema(schema: OutputSchema): Promise<void> {
  requireUsable(schema);
  const answer = await answerTo({ schema: JSON.stringify(schema), value: null }, serverMs);
  if ("fault" in answer) throw new SchemaFault(answer.fault.pointer, answer.fault.message);
}

/** The faults of a value; none: it matches the schema, which was checked before. */
export async function issuesOf(schema: OutputSchema, value: OutputValue, maximumMs = serverMs): Promise<OutputIssue[]> {
  const text = JSON.stringify(value);
  const bytes = Buffer.from(text);
  if (bytes.length > maximumOutputBytes)
    return [{ field: "", message: `must have at most ${maximumOutputBytes} bytes of JSON` }];
  if (structureOf(bytes).depth > maximumOutputLevels)
    return [{ field: "", message: `must have at most ${maximumOutputLevels} levels` }];
  const answer = await answerTo({ schema: JSON.stringify(schema), value: text }, maximumMs);
  return "fault" in answer ? [{ field: "", message: answer.fault.message }] : answer.issues;
}

/** Starts a thread for one job, so that nothing of one schema stays for the next. */
async function answerTo(job: SchemaJob, maximumMs: number): Promise<SchemaAnswer> {
  const worker = newThread();
  let late: NodeJS.Timeout | undefined;
  try {
    return await new Promise<SchemaAnswer>((resolve, reject) => {
      const giveUp = () => resolve({ fault: { pointer: "", message: tooSlow } });
      worker.on("message", (message: "ready" | SchemaAnswer) => {
        if (message !== "ready") return resolve(message);
        late = setTimeout(giveUp, maximumMs);
        worker.postMessage(job);
      });
      worker.on("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ERR_WORKER_OUT_OF_MEMORY") giveUp();
        else reject(error);
      });
      worker.on("exit", () => reject(new Error("the thread for schemas has ended")));
    });
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}

/** From its own file when run from sources; in the guest, from the bundle with an argument that selects the thread. */
function newThread(): Worker {
  const here = fileURLToPath(import.meta.url);
  const options = { env: {}, resourceLimits: { maxOldGenerationSizeMb: heapMiB } };
  return here.endsWith(".ts")
    ? new Worker(new URL("./thread.ts", import.meta.url), options)
    : new Worker(here, { ...options, argv: [schemaThreadArgument] });
}
