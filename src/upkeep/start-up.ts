import { asBerthError } from "../contract/errors.ts";
import { pause } from "../core/retry.ts";

/** Between two checks for a missing image or QEMU. */
const retryMs = 1_000;

interface StartUp {
  /** Opens the machines' driver. Rejects with what it lacks. */
  openDriver: () => Promise<{ prepare(runtime: string): Promise<unknown> }>;
  /** Each resumes work of the previous server. They run in this order, and again when one rejects. */
  resume: readonly (() => Promise<void>)[];
  /** Its template is made ahead of the first agent; other runtimes' templates are made on first use. */
  runtime: string;
  stopped: AbortSignal;
  failed: (message: string, error: unknown) => void;
}

/** Once the driver is ready: resumes what an earlier server left, then prepares the template needed next. */
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
