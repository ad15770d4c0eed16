import { join } from "node:path";
import { Readable } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { type BackupHeader, type Backup as BackupView, backupFormat, type KeptMachine } from "../contract/backups.ts";
import { asBerthError, BerthError, type ErrorCode, isShortage } from "../contract/errors.ts";
import { dumpDatabase } from "../core/database/dump.ts";
import type { HeldSnapshot } from "../snapshots/snapshots.ts";
import { keyFingerprint } from "./key-fingerprint.ts";

/** Limit on concurrent snapshots. An agent that waits for a slot delays no others. */
const atOnce = 4;
/** How long an unread backup is kept, and how long a read may pause. */
const keptMs = 60 * 60_000;
const stalledMs = 10 * 60_000;

/** Errors that prevent the backup of every agent. */
const ofAll: ReadonlySet<ErrorCode> = new Set(["disk_full", "database_unavailable", "shutting_down"]);

const noSpace =
  "There is not enough disk space for the backup: it needs a copy of the database, and agents' memories. Free some space.";

interface Staged {
  view: BackupView;
  readers: number;
  expiry: NodeJS.Timeout | undefined;
}

/**
 * Backups of the whole installation, one at a time: each agent's machine at its own time, then all rows at one later
 * time. The files are linked, so that the service continues during the read.
 */
export class Backups {
  readonly #context: AppContext;
  readonly #stop = new AbortController();
  #making = false;
  #staged: Staged | null = null;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Makes a backup, which replaces the last one. Throws `backup_in_progress`, `disk_full`. */
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

  /** The bytes from the start; they break off if the reader stops. Throws `backup_not_found`. */
  read(id: string): Readable {
    const over = new AbortController();
    const bytes = Readable.from(this.#read(this.#require(id), over), { objectMode: false });
    const signal = AbortSignal.any([over.signal, this.#stop.signal]);
    const end = () => bytes.destroy(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    bytes.once("close", () => signal.removeEventListener("abort", end));
    bytes.on("error", () => {}); // The reader gets the error, if it is still there.
    return bytes;
  }

  async remove(id: string): Promise<void> {
    const staged = this.#require(id);
    clearTimeout(staged.expiry);
    this.#staged = null;
    await this.#context.backupFiles.remove(id);
  }

  /** Ends the current read. */
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

  /** The header fields that all backups of this service share. */
  #about(): Pick<BackupHeader, "format" | "berth" | "hostId" | "secretKey" | "settings"> {
    const { version: berth, host: hostId, secretKey, config } = this.#context;
    return { format: backupFormat, berth, hostId, secretKey: keyFingerprint(secretKey), settings: config.settings };
  }

  /** Takes a snapshot of each agent's machine. A failure does not stop the others. */
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

  /** Rethrows errors that concern more than this agent. Null for an agent that was deleted meanwhile. */
  #gapOf({ id, name }: AgentState, error: unknown): BackupView["leftOut"][number] | null {
    const { code, message } = asBerthError(error, "machine_failed", "Its machine could not be kept.");
    if (isShortage(error) || ofAll.has(code)) throw error;
    if (code === "agent_deleted") return null;
    this.#context.log("an agent's machine is not in a backup", { agentId: id, error });
    return { agent: name, reason: `${message} (${code})` };
  }
}
