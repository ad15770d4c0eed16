import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { settingsOf } from "../contract/agents.ts";
import {
  type ArchivedSettings,
  archiveVersion,
  type Installed,
  type Manifest,
  type TranscriptLine,
} from "../contract/archives.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { fromFrames } from "../core/frames.ts";
import type { Caller } from "../core/http/caller.ts";
import { received } from "../files/transfers.ts";
import { lostError } from "../lifecycle/guest-leases.ts";
import { toLines } from "../turns/transcript.ts";
import { writeArchive } from "./write.ts";

/** A reader that accepts no bytes for this long is disconnected, because the agent waits for the end. */
const stalledMs = 60_000;
/** The size of a piece of the transcript, in characters. */
const pieceCharacters = 64 * 1024;

const leftOut =
  "The values of secrets: settings.json has their names. Keys, credits and the log of connections. Packages installed outside of the home folder: `installed` lists those that apt and npm report.";

type ExportedParts = Partial<
  Record<"berth.json" | "settings.json" | "transcript.jsonl" | "home.tar" | "state.tar" | "disk.qcow2", Source>
>;
type Source = AsyncIterable<Buffer> | Iterable<Buffer>;

/** Agents as archives. */
export class Exports {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * Streams the agent as an archive. Wakes its machine and reserves it until the end: messages that arrive during the
   * export wait. The stream fails if the export does. Throws as `GuestLeases.use` does, and `turn_in_progress`. `gone`:
   * aborts when the caller disconnects.
   */
  async open(
    agent: AgentState,
    caller: Pick<Caller, "accountId" | "keyId">,
    wanted: { disk: boolean; gone: AbortSignal },
  ): Promise<Readable> {
    const { leases, stores, turns } = this.#context;
    await leases.admit(agent, caller);
    if (await stores.histories.running(agent.id)) return turns.refuseAnother(agent.id);
    for (;;) {
      const archive = await this.#begin(agent, wanted);
      if (archive) return archive;
    }
  }

  /** Starts an export; null if the agent has just been suspended. */
  async #begin(agent: AgentState, wanted: { disk: boolean; gone: AbortSignal }): Promise<Readable | null> {
    const { leases, lifecycle, stores, turns } = this.#context;
    const lease = await leases.acquire(agent.id);
    const begun = Promise.withResolvers<Readable | null>();
    const whole = lifecycle.alone(agent.id, async (current) => {
      await using stack = new AsyncDisposableStack();
      if (current.status !== "ready") return begun.resolve(null);
      if (await stores.histories.running(agent.id)) await turns.refuseAnother(agent.id);
      const archive = await this.#archive(current, await lease.connect(), wanted, stack);
      begun.resolve(archive);
      await this.#sent(archive, agent.id);
    });
    whole.catch(begun.reject).finally(() => lease[Symbol.dispose]());
    return begun.promise.catch((error: unknown) => {
      throw lostError(error);
    });
  }

  async #archive(
    agent: AgentState,
    guest: GuestClient,
    { disk: withDisk, gone }: { disk: boolean; gone: AbortSignal },
    stack: AsyncDisposableStack,
  ): Promise<Readable> {
    const { stores } = this.#context;
    const [turns, installed, settings] = await Promise.all([
      stores.histories.count(agent.id),
      guest.listInstalled({}),
      this.#settings(agent),
    ]);
    const disk = withDisk ? await this.#packDisk(agent, gone) : null;
    if (disk) stack.defer(() => rm(disk));
    const at = new Date();
    const manifest = await this.#manifest(agent, { at, turns, installed, hasDisk: withDisk });
    const parts: ExportedParts = {
      "berth.json": [json(manifest)],
      "settings.json": [json(settings)],
      "transcript.jsonl": this.#transcript(agent.id),
      "home.tar": folderOf(guest, "home"),
      "state.tar": folderOf(guest, "state"),
      ...(disk ? { "disk.qcow2": createReadStream(disk, { highWaterMark: 1024 * 1024 }) } : {}),
    };
    return taken(writeArchive(parts, at));
  }

  /** Packs the agent's current disk into one file, unless `gone` aborts. The caller removes the file. */
  #packDisk(agent: AgentState, gone: AbortSignal): Promise<string> {
    const { snapshots, machines } = this.#context;
    return snapshots.ofDisk(agent, (snapshot) => machines.packDisk(snapshot, gone));
  }

  /** Resolves when the archive is sent or its reader has disconnected. */
  async #sent(archive: Readable, agentId: string): Promise<void> {
    const watched = new AbortController();
    archive.once("error", (error) => this.#context.log("an export broke off", { agentId, error }));
    this.#untilDeleted(agentId, watched.signal).then(
      (isDeleted) => isDeleted && archive.destroy(new Error("the agent is being deleted")),
      // Without the database nobody can delete it.
      () => {},
    );
    if (!archive.destroyed) await new Promise((resolve) => archive.once("close", resolve));
    watched.abort();
  }

  async #untilDeleted(agentId: string, signal: AbortSignal): Promise<boolean> {
    for await (const { desired } of this.#context.lifecycle.watch(agentId, signal)) {
      if (desired === "deleted") return true;
    }
    return !signal.aborted;
  }

  async #manifest(
    agent: AgentState,
    { at, turns, installed, hasDisk }: { at: Date; turns: number; installed: Installed; hasDisk: boolean },
  ): Promise<Manifest> {
    const { version, models, machines } = this.#context;
    const { name, runtime, conversation } = agent;
    return {
      format: "berth-agent",
      version: archiveVersion,
      exportedAt: at.toISOString(),
      berth: version,
      agent: name,
      runtime: { name: runtime, version: await models.versionOf(runtime) },
      machine: { ...(await machines.facts(agent.id)), architecture: process.arch },
      conversation,
      counts: { turns },
      installed,
      hasDisk,
      leftOut,
    };
  }

  async #settings(agent: AgentState): Promise<ArchivedSettings> {
    const { id, resources } = agent;
    const { stores } = this.#context;
    const [network, secrets, conversations, retold] = await Promise.all([
      stores.egressRules.of(id),
      stores.secrets.list(id),
      stores.histories.conversations(id),
      agent.retold === null ? null : stores.histories.retelling(agent.retold),
    ]);
    return {
      ...settingsOf(agent),
      resources,
      retold,
      conversations,
      network: { allow: [...network.allow], deny: [...network.deny], ask: network.ask },
      secrets: secrets.map(({ name, hosts, headers }) => ({ name, hosts, headers })),
    };
  }

  async *#transcript(agentId: string): AsyncGenerator<Buffer> {
    const { stores } = this.#context;
    let piece = "";
    for await (const turn of stores.histories.finished(agentId)) {
      for await (const line of toLines(turn, stores.histories.events(turn.id))) {
        piece += lineOf(line);
        if (piece.length < pieceCharacters) continue;
        yield Buffer.from(piece);
        piece = "";
      }
    }
    if (piece !== "") yield Buffer.from(piece);
  }
}

/** The bytes as a stream. It fails if its reader accepts none for too long. */
function taken(bytes: AsyncIterable<Buffer>): Readable {
  let timer: NodeJS.Timeout | undefined;
  const waiting = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stream.destroy(new Error("nobody reads the export")), stalledMs);
  };
  async function* watched() {
    for await (const chunk of bytes) {
      waiting();
      yield chunk;
      clearTimeout(timer);
    }
    waiting();
  }
  const stream = Readable.from(watched(), { objectMode: false, highWaterMark: 256 * 1024 });
  waiting();
  return stream.once("close", () => clearTimeout(timer));
}

function lineOf(line: TranscriptLine): string {
  return `${JSON.stringify(line)}\n`;
}

async function* folderOf(guest: GuestClient, folder: "home" | "state"): AsyncGenerator<Buffer> {
  yield* received(await guest.exportFolder({ folder }), fromFrames());
}

function json(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`);
}
