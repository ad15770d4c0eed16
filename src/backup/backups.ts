import { join } from "node:path";
import { Readable } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { type BackupHeader, type Backup as BackupView, backupFormat, type KeptMachine } from "../contract/backups.ts";
import { asBerthError, BerthError, type ErrorCode, isShortage } from "../contract/errors.ts";
import { dumpDatabase } from "../core/database/dump.ts";
import type { HeldSnapshot } from "../snapshots/snapshots.ts";
import { keyFingerprint } from "./key-fingerprint.ts";

/** How many agents are kept at the same time. One that waits for a slot holds up only its place. */
const atOnce = 4;
/** How long a backup waits to be read, and to be read on. */
const keptMs = 60 * 60_000;
const stalledMs = 10 * 60_000;

/** The error that prevents a backup of any agent. */
const ofAll: ReadonlySet<ErrorCode> = new Set(["disk_full", "database_unavailable", "shutting_down"]);

const noSpace =
  "There is not enough disk space for the backup: it needs a copy of the database, and agents' memories. Free some space.";

/** A backup whose files are there. */
interface Staged {
  view: BackupView;
  readers: number;
  expiry: NodeJS.Timeout | undefined;
}

/**
 * Backups of the complete installation, one at a time: each agent's machine at its own time, then all rows at one time
 * after these. The files are linked, so that the service continues while they are read.
 */
export class Backups {
  readonly #context: AppContext;
  readonly #stop = new AbortController();
  #making = false;
  #staged: Staged | null = null;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Makes one in place of the last. Throws `backup_in_progress`, `disk_full`. */
  async make(id: string): Promise<BackupView> {
    if (this.#staged?.view.id === id) return this.#staged.view;
    if (this.#making || (this.#staged && this.#staged.readers > 0)) {
      throw new BerthError("backup_in_progress", "Another backup is being made or read. Wait for its end.");
    }
    this.#making = true;
    try {
      if (this.#staged) await this.remove(this.#staged.view.id);
      await this.#context.reserve.require();
      const view = await this.#make(id).catch(async (error: unknown) => {
        await this.#context.backupFiles.remove(id);
        throw isShortage(error) ? new BerthError("disk_full", noSpace, { cause: error }) : error;
      });
      this.#staged = { view, readers: 0, expiry: undefined };
      this.#expireLater(this.#staged);
      return view;
    } finally {
      this.#making = false;
    }
  }

  /** The backup's bytes, from its beginning; it breaks off where nobody reads on. Throws `backup_not_found`. */
  read(id: string): Readable {
    const over = new AbortController();
    const bytes = Readable.from(this.#read(this.#require(id), over), { objectMode: false });
    const signal = AbortSignal.any([over.signal, this.#stop.signal]);
    const end = () => bytes.destroy(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    bytes.once("close", () => signal.removeEventListener("abort", end));
    bytes.on("error", () => {}); // Its reader's, which may have gone.
    return bytes;
  }

  /** Throws `backup_not_found`. */
  async remove(id: string): Promise<void> {
    const staged = this.#require(id);
    clearTimeout(staged.expiry);
    this.#staged = null;
    await this.#context.backupFiles.remove(id);
  }

  /** Ends what is being read. */
  stop(): void {
    clearTimeout(this.#staged?.expiry);
    this.#stop.abort(new BerthError("shutting_down", "The service is being stopped."));
  }

  #require(id: string): Staged {
    if (this.#staged?.view.id === id) return this.#staged;
    throw new BerthError("backup_not_found", "There is no such backup any more. Make another one.");
  }

  async *#read(staged: Staged, over: AbortController): AsyncGenerator<Buffer> {
    clearTimeout(staged.expiry);
    staged.readers++;
    let stalled: NodeJS.Timeout | undefined;
    const wait = () => {
      clearTimeout(stalled);
      stalled = setTimeout(() => over.abort(new Error("nobody reads the backup on")), stalledMs);
      stalled.unref();
    };
    try {
      wait();
      for await (const bytes of this.#context.backupFiles.read(staged.view.id)) {
        yield bytes;
        wait();
      }
    } finally {
      clearTimeout(stalled);
      staged.readers--;
      if (this.#staged === staged) this.#expireLater(staged);
    }
  }

  #expireLater(staged: Staged): void {
    if (staged.readers > 0 || this.#stop.signal.aborted) return;
    staged.expiry = setTimeout(() => {
      this.remove(staged.view.id).catch((error: unknown) => {
        this.#context.log("a backup that nobody reads could not be removed", { error });
      });
    }, keptMs);
    staged.expiry.unref();
  }

  async #make(id: string): Promise<BackupView> {
    const { backupFiles, machines, hostFiles, snapshots, connection, host, log } = this.#context;
    const folder = await backupFiles.begin(id);
    const createdAt = new Date().toISOString();
    const { held, kept, leftOut } = await this.#holdAll();
    try {
      // After the machines: a turn that ends between the two has its row, and is undone by the restoration.
      const dumped = await dumpDatabase(connection, join(folder, "database"), host);
      for (const { id: agent, name } of dumped) {
        if (kept.some((each) => each.agent === agent) || leftOut.some((each) => each.agent === name)) continue;
        leftOut.push({ agent: name, reason: "The agent was created while the backup was made." });
      }
      const here = await machines.snapshots();
      const states = await hostFiles.statesOf(here);
      const moments = new Set(kept.map(({ snapshot }) => snapshot));
      const needed = here.filter(({ id }) => states.get(id) === "named" || moments.has(id));
      await machines.stage(
        needed.map(({ id }) => id),
        folder,
      );
    } finally {
      for (const each of held) each[Symbol.dispose]();
      void snapshots.sweep().catch((error: unknown) => log("what a backup was made of is removed later", { error }));
    }
    const bytes = await backupFiles.finish(id, { ...this.#about(), createdAt, machines: kept, leftOut });
    return { id, createdAt, agents: kept.length, bytes, leftOut };
  }

  /** The part of a backup's header that is the same for every backup of this service. */
  #about(): Pick<BackupHeader, "format" | "berth" | "hostId" | "secretKey" | "settings"> {
    const { version: berth, host: hostId, secretKey, config } = this.#context;
    return { format: backupFormat, berth, hostId, secretKey: keyFingerprint(secretKey), settings: config.settings };
  }

  /** Keeps each agent's machine at a moment. One that cannot be kept does not keep the others from it. */
  async #holdAll() {
    const held: HeldSnapshot[] = [];
    const kept: KeptMachine[] = [];
    const leftOut: BackupView["leftOut"] = [];
    const waiting = (await this.#context.stores.lifecycle.all()).filter(
      ({ hasMachine, desired }) => hasMachine && desired !== "deleted",
    );
    const work = async () => {
      for (let agent = waiting.shift(); agent; agent = waiting.shift()) {
        this.#stop.signal.throwIfAborted();
        try {
          const moment = await this.#context.snapshots.hold(agent);
          held.push(moment);
          const { id, agent: then, at } = moment;
          const { name, runtime, conversation, retold } = then;
          kept.push({ agent: agent.id, name, snapshot: id, at: at.toISOString(), runtime, conversation, retold });
        } catch (error) {
          const gap = this.#gapOf(agent, error);
          if (gap) leftOut.push(gap);
        }
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: atOnce }, work));
    const failed = ended.find((each) => each.status === "rejected");
    if (!failed) return { held, kept, leftOut };
    for (const each of held) each[Symbol.dispose]();
    throw failed.reason;
  }

  /** Rethrows what is not about this agent alone. Null for one that was deleted meanwhile. */
  #gapOf({ id, name }: AgentState, error: unknown): BackupView["leftOut"][number] | null {
    const { code, message } = asBerthError(error, "machine_failed", "Its machine could not be kept.");
    if (isShortage(error) || ofAll.has(code)) throw error;
    if (code === "agent_deleted") return null;
    this.#context.log("an agent's machine is not in a backup", { agentId: id, error });
    return { agent: name, reason: `${message} (${code})` };
  }
}
