import { berth, isMissing, isRefusal } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { messageOf } from "../ui/message.ts";
import { childOf, folderOf, nameOf, numbered } from "./paths.ts";
import { sendFile } from "./send-file.ts";

/** Handling of a file whose name exists in the machine. */
export type Choice = "replace" | "keep" | "skip";

/** A file on its way into an agent's machine. */
export interface Upload {
  readonly id: number;
  readonly agent: string;
  readonly path: string;
  readonly file: File;
  /** Bytes that were sent. */
  readonly sent: number;
  /** `asking`: the name exists, and the person has to choose. */
  readonly state: "waiting" | "sending" | "asking" | "done" | "skipped" | "cancelled" | "failed";
  readonly error: string | null;
  readonly choice: Choice | null;
}

/** The most names that are tried for a file that is kept in addition to another. */
const mostNumbers = 100;

/** The uploads of this page, which continue while other views are shown. One file is sent at a time. */
class Uploads {
  #list: readonly Upload[] = [];
  #nextId = 1;
  #isSending = false;
  readonly #watchers = new Set<() => void>();
  readonly #aborts = new Map<number, AbortController>();

  /** For `useSyncExternalStore`. */
  readonly watch = (changed: () => void): (() => void) => {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  };

  /** For `useSyncExternalStore`. */
  readonly current = (): readonly Upload[] => this.#list;

  /** Adds files, whose names may have folders. */
  add(agent: string, folder: string, files: readonly { name: string; file: File }[]): void {
    const added = files.map(
      ({ name, file }): Upload => ({
        id: this.#nextId++,
        agent,
        path: childOf(folder, name),
        file,
        sent: 0,
        state: "waiting",
        error: null,
        choice: null,
      }),
    );
    this.#set([...this.#list, ...added]);
    void this.#run();
  }

  /** `forAll`: also for those of the agent that ask or wait. */
  choose(upload: Upload, choice: Choice, forAll: boolean): void {
    const isMeant = ({ id, agent, state }: Upload) =>
      id === upload.id || (forAll && agent === upload.agent && (state === "asking" || state === "waiting"));
    const change = (each: Upload): Upload => ({ ...each, choice, state: choice === "skip" ? "skipped" : "waiting" });
    this.#set(this.#list.map((each) => (isMeant(each) ? change(each) : each)));
    void this.#run();
  }

  cancel({ id }: Upload): void {
    this.#change(id, { state: "cancelled" });
    this.#aborts.get(id)?.abort();
  }

  retry({ id }: Upload): void {
    this.#change(id, { state: "waiting", sent: 0, error: null });
    void this.#run();
  }

  /** Removes the uploads of an agent that have ended. */
  dismiss(agent: string): void {
    this.#set(this.#list.filter((each) => each.agent !== agent || isActive(each)));
  }

  async #run(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    for (;;) {
      const next = this.#list.find(({ state }) => state === "waiting");
      if (!next) break;
      await this.#send(next);
      if (!this.#list.some(({ agent, state }) => agent === next.agent && state === "waiting"))
        void queries.invalidateQueries({ queryKey: ["agents", next.agent, "files"] });
    }
    this.#isSending = false;
  }

  async #send({ id, agent, path, file, choice }: Upload): Promise<void> {
    const abort = new AbortController();
    const { signal } = abort;
    this.#aborts.set(id, abort);
    this.#change(id, { state: "sending" });
    try {
      const free = choice === "keep" ? await freeName(agent, path, signal) : path;
      if (choice === null && (await exists(agent, path, signal))) return this.#change(id, { state: "asking" });
      const headers: Record<string, string> = choice === "replace" ? {} : { "if-none-match": "*" };
      const onProgress = (sent: number) => this.#change(id, { sent });
      this.#change(id, { path: free });
      await sendFile({ agent, path: free, file, headers, signal, onProgress });
      this.#change(id, { state: "done", sent: file.size });
    } catch (error) {
      if (signal.aborted) return;
      // It was made in the meantime.
      if (isRefusal(error, "precondition_failed")) this.#change(id, { state: "asking", choice: null, sent: 0 });
      else this.#change(id, { state: "failed", error: messageOf(error), sent: 0 });
    } finally {
      this.#aborts.delete(id);
    }
  }

  #change(id: number, changes: Partial<Upload>): void {
    this.#set(this.#list.map((each) => (each.id === id ? { ...each, ...changes } : each)));
  }

  #set(list: readonly Upload[]): void {
    this.#list = list;
    if (list.some(isActive)) window.addEventListener("beforeunload", askBeforeUnload);
    else window.removeEventListener("beforeunload", askBeforeUnload);
    for (const changed of this.#watchers) changed();
  }
}

/** Whether an upload has not ended. */
export function isActive({ state }: Upload): boolean {
  return state === "waiting" || state === "sending" || state === "asking";
}

function askBeforeUnload(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

async function exists(agent: string, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await berth.agent(agent).files.stat(path, { signal });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function freeName(agent: string, path: string, signal: AbortSignal): Promise<string> {
  for (let number = 2; number <= mostNumbers; number++) {
    const next = childOf(folderOf(path), numbered(nameOf(path), number));
    if (!(await exists(agent, next, signal))) return next;
  }
  throw new Error(`${mostNumbers} files with this name exist. Rename the file, and upload it again.`);
}

export const uploads = new Uploads();
