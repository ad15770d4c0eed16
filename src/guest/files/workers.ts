import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FileUser } from "../../contract/files.ts";
import type { GuestFaultCode } from "../../contract/guest.ts";
import { GuestError } from "../control.ts";
import type { Operations, WorkerAnswer, WorkerCancel, WorkerRequest } from "./worker.ts";
import { workerArgument } from "./worker-argument.ts";

interface Asked {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export interface Rights {
  uid: number;
  gid: number;
}

/** Options of `spawn` for a process with these rights, which may be the runner's own. */
export function spawnedAs(rights: Rights): Partial<Rights> {
  return rights.uid === process.getuid!() ? {} : rights;
}

/**
 * Node's arguments for a worker: its own file when run from sources; in the guest, the bundle with an argument that
 * selects the worker.
 */
function workerProgram(): string[] {
  const here = fileURLToPath(import.meta.url);
  return here.endsWith(".ts") ? [fileURLToPath(new URL("./worker.ts", import.meta.url))] : [here, workerArgument];
}

/** A process that works on files with a user's rights. Started on first use, and restarted if it exits. */
export class Worker {
  readonly user: FileUser;
  readonly #rights: Rights;
  readonly #home: string;
  /** Called before a new process gets its first request. */
  readonly #began: (worker: Worker) => Promise<void>;
  readonly #asked = new Map<number, Asked>();
  #child: ChildProcess | null = null;
  #ready: Promise<void> = Promise.resolve();
  #last = 0;

  constructor(user: FileUser, rights: Rights, home: string, began: (worker: Worker) => Promise<void>) {
    this.user = user;
    this.#rights = rights;
    this.#home = home;
    this.#began = began;
  }

  /** Throws the worker's refusal as a `GuestError`. Stops a long request when `gone` aborts. */
  async ask<Name extends keyof Operations>(
    operation: Name,
    request: Parameters<Operations[Name]>[0],
    gone?: AbortSignal,
  ): Promise<Awaited<ReturnType<Operations[Name]>>> {
    if (!this.#child) {
      this.#start();
      this.#ready = this.#began(this);
    }
    await this.#ready;
    return this.askAtOnce(operation, request, gone);
  }

  /** Like `ask`, for a process that has just started. */
  askAtOnce<Name extends keyof Operations>(
    operation: Name,
    request: Parameters<Operations[Name]>[0],
    gone?: AbortSignal,
  ): Promise<Awaited<ReturnType<Operations[Name]>>> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#asked.set(id, { resolve: resolve as (result: unknown) => void, reject });
      const child = this.#child ?? this.#start();
      child.send({ id, operation, request } satisfies WorkerRequest, (error) => {
        if (!error) return;
        this.#asked.delete(id);
        reject(new GuestError("failed", `the worker for files: ${error.message}`));
      });
      gone?.addEventListener("abort", () => {
        if (this.#asked.has(id) && child.connected) child.send({ cancel: id } satisfies WorkerCancel);
      });
    });
  }

  /** The process's descriptor as a path that the runner can open. */
  pathOf(descriptor: number): string {
    return `/proc/${this.#child?.pid ?? 0}/fd/${descriptor}`;
  }

  /** Ends the process, which removes its unfinished files. */
  end(): void {
    if (this.#child?.connected) this.#child.disconnect();
  }

  #start(): ChildProcess {
    const child = spawn(process.execPath, ["--max-old-space-size=128", ...workerProgram()], {
      cwd: "/",
      env: { HOME: this.#home, LANG: "C.UTF-8" },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      ...spawnedAs(this.#rights),
    });
    child.on("message", (answer: WorkerAnswer) => {
      const asked = this.#asked.get(answer.id);
      this.#asked.delete(answer.id);
      if (answer.fault) asked?.reject(new GuestError(answer.fault.code as GuestFaultCode, answer.fault.message));
      else asked?.resolve(answer.result);
    });
    const ended = () => {
      if (this.#child !== child) return;
      this.#child = null;
      for (const { reject } of this.#asked.values()) {
        reject(new GuestError("failed", "the worker for files ended"));
      }
      this.#asked.clear();
    };
    child.once("exit", ended).once("error", ended).once("disconnect", ended);
    this.#child = child;
    return child;
  }
}
