import { spawn } from "node:child_process";
import type { FileEvent, WatchFiles } from "../../contract/files.ts";
import { GuestError } from "../control.ts";
import { faultOf } from "./faults.ts";
import { type Rights, spawnedAs, type Worker } from "./workers.ts";

/** How long a `MOVED_FROM` waits for its `MOVED_TO`, which follows at once if the target is watched, too. */
const pairMs = 50;
/** Limit on the events that wait for a slow reader. */
const maximumWaiting = 10_000;
const events = ["create", "modify", "attrib", "delete", "delete_self", "move", "move_self"];

/**
 * The changes at a path, by inotify and as the user. Ends when `gone` aborts or the watched path disappears. A reader
 * that falls behind gets `overflow` in place of the missed events.
 */
export async function watchFiles(
  worker: Worker,
  rights: Rights,
  { path, recursive }: WatchFiles,
  gone: AbortSignal,
): Promise<AsyncIterable<FileEvent[]>> {
  await worker.ask("stat", { path });
  const format = ["--format", "%e%0%w%f%0", "--no-newline"];
  const args = [
    "--monitor",
    ...(recursive ? ["--recursive"] : []),
    ...format,
    ...events.flatMap((each) => ["-e", each]),
  ];
  const child = spawn("inotifywait", [...args, "--", path], {
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" },
    stdio: ["ignore", "pipe", "pipe"],
    ...spawnedAs(rights),
  });
  const end = () => child.kill("SIGKILL");
  gone.addEventListener("abort", end);
  if (gone.aborted) end();
  await established(child.stderr, child);
  const queue = new Queue();
  queue.add({ type: "watching", path, from: null });
  const parser = new Parser((event) => queue.add(event));
  child.stdout.setEncoding("utf8").on("data", (text: string) => parser.add(text));
  child.once("close", () => {
    parser.flush();
    queue.close();
  });
  return queue.batches(end);
}

async function established(stderr: NodeJS.ReadableStream, child: ReturnType<typeof spawn>): Promise<void> {
  let text = "";
  const ready = Promise.withResolvers<void>();
  stderr.setEncoding("utf8");
  stderr.on("data", (chunk: string) => {
    text = (text + chunk).slice(-2_000);
    if (text.includes("Watches established.")) ready.resolve();
  });
  const failed = () => ready.reject(refusalOf(text));
  child.once("error", failed).once("close", failed);
  await ready.promise;
}

function refusalOf(text: string): Error {
  if (/Permission denied/.test(text)) return faultOf({ code: "EACCES" }, "the watched path");
  if (/upper limit/.test(text)) return new GuestError("failed", "the machine has no inotify watches left");
  return new GuestError("failed", `inotifywait: ${text.trim().slice(-300)}`);
}

/** Parses pairs of names and paths, each ended by a null character. */
class Parser {
  readonly #emit: (event: FileEvent) => void;
  #pending = "";
  #moved: string | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (event: FileEvent) => void) {
    this.#emit = emit;
  }

  add(text: string): void {
    const fields = (this.#pending + text).split("\0");
    const whole = fields.length - 1 - ((fields.length - 1) % 2);
    for (let at = 0; at < whole; at += 2) this.#event(fields[at]!, fields[at + 1]!);
    this.#pending = fields.slice(whole).join("\0");
  }

  /** Reports a file that was moved out of the watched folders. */
  flush(): void {
    clearTimeout(this.#timer);
    if (this.#moved !== null) this.#emit({ type: "deleted", path: this.#moved, from: null });
    this.#moved = null;
  }

  #event(names: string, at: string): void {
    const path = at.length > 1 ? at.replace(/\/$/, "") : at;
    const has = (name: string) => names.split(",").includes(name);
    if (has("MOVED_TO")) {
      const from = this.#moved;
      this.#moved = null;
      clearTimeout(this.#timer);
      this.#emit(from === null ? { type: "created", path, from } : { type: "moved", path, from });
      return;
    }
    this.flush();
    if (has("MOVED_FROM")) {
      this.#moved = path;
      this.#timer = setTimeout(() => this.flush(), pairMs);
    } else if (has("Q_OVERFLOW")) this.#emit({ type: "overflow", path, from: null });
    else if (has("CREATE")) this.#emit({ type: "created", path, from: null });
    else if (has("MODIFY") || has("ATTRIB")) this.#emit({ type: "changed", path, from: null });
    else if (has("DELETE") || has("DELETE_SELF") || has("MOVE_SELF")) this.#emit({ type: "deleted", path, from: null });
  }
}

class Queue {
  #waiting: FileEvent[] = [];
  #isClosed = false;
  #wake: () => void = () => {};

  add(event: FileEvent): void {
    const last = this.#waiting.at(-1);
    // Merge consecutive writes to a file.
    if (last && last.type === "changed" && event.type === "changed" && last.path === event.path) return;
    if (this.#waiting.length >= maximumWaiting) this.#waiting = [{ type: "overflow", path: event.path, from: null }];
    this.#waiting.push(event);
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *batches(end: () => void): AsyncGenerator<FileEvent[]> {
    try {
      for (;;) {
        const batch = this.#waiting.splice(0, 500);
        if (batch.length > 0) yield batch;
        else if (this.#isClosed) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      end();
    }
  }
}
