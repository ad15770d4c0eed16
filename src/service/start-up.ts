import { asBerthError } from "../contract/errors.ts";
import { pause } from "../platform/retry.ts";

/** Between two looks for an image or a QEMU that was missing. */
const retryMs = 3_000;

interface StartUp {
  /** The driver of the machines. Rejects with what is missing for it. */
  openDriver: () => Promise<{ prepare(runtime: string): Promise<void> }>;
  /** Each goes on where the server before this one ended; in this order, and again when one rejects. */
  resume: readonly (() => Promise<void>)[];
  /** Its template is made ahead of the first agent; those of the other runtimes when they are first asked for. */
  runtime: string;
  stopped: AbortSignal;
  failed: (message: string, error: unknown) => void;
}

/** Once the driver is there: takes up what an earlier server left, then prepares what is needed next. */
export async function startUp({ openDriver, resume, runtime, stopped, failed }: StartUp): Promise<void> {
  for (let told = ""; !stopped.aborted; ) {
    try {
      const driver = await openDriver();
      for (const step of resume) await step();
      await driver.prepare(runtime).catch((error: Error) => failed(error.message, error));
      return;
    } catch (error) {
      const { message } = asBerthError(error, "internal", String(error));
      if (message !== told && !stopped.aborted) failed(message, error);
      told = message;
      await pause(retryMs, stopped);
    }
  }
}
