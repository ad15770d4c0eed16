import { Readable } from "node:stream";
import type { AgentState } from "../agents/agent.ts";
import {
  type ArchivedSettings,
  archiveVersion,
  type Installed,
  type Manifest,
  type TranscriptLine,
} from "../contract/archives.ts";
import type { TurnEvent } from "../contract/chat.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { fromFrames } from "../core/frames.ts";
import type { Caller } from "../core/http/caller.ts";
import type { EgressLists } from "../egress/agent-egress.ts";
import { received } from "../files/transfers.ts";
import { type GuestLeases, lostError } from "../lifecycle/guest-leases.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { SecretState } from "../secrets/secrets.ts";
import { type FinishedTurn, toLines } from "../turns/transcript.ts";
import type { Turns } from "../turns/turns.ts";

/** How long a reader of an archive may take nothing before it is cut off: the agent waits for the end. */
const stalledMs = 60_000;
/** How much of the transcript goes into one piece, in characters. */
const pieceCharacters = 64 * 1024;

const leftOut =
  "The values of secrets: settings.json has their names. Keys, credits and the log of connections. What was installed outside of the home folder: `installed` lists what apt and npm know of it.";

/** The parts of an archive as they are made. */
type ExportedParts = Partial<
  Record<"berth.json" | "settings.json" | "transcript.jsonl" | "home.tar" | "state.tar" | "disk.qcow2", Source>
>;
type Source = AsyncIterable<Buffer> | Iterable<Buffer>;

/** A machine's disk as one file on the host. */
interface PackedDisk {
  bytes: () => AsyncIterable<Buffer>;
  remove(): Promise<void>;
}

interface ExportOptions {
  leases: GuestLeases;
  lifecycle: Lifecycle;
  turns: Turns;
  history: {
    /** The agent's turn that runs. */
    running(agentId: string): Promise<string | null>;
    count(agentId: string): Promise<number>;
    /** What a runtime is told of a conversation with another one; null if that is gone. */
    retelling(id: string): Promise<string | null>;
    /** The oldest first. */
    finished(agentId: string): AsyncIterable<FinishedTurn>;
    events(turnId: string): AsyncIterable<TurnEvent>;
  };
  rules: { of(agentId: string): Promise<EgressLists> };
  secrets: { list(agentId: string): Promise<SecretState[]> };
  machines: {
    facts(agentId: string): Promise<Pick<Manifest["machine"], "image" | "accelerator">>;
  };
  /** The agent's disk of now as one file, unless nobody waits for it any more (`gone`). */
  packDisk: (agent: AgentState, gone: AbortSignal) => Promise<PackedDisk>;
  /** The bytes of an archive with these parts. */
  write: (parts: ExportedParts, at: Date) => AsyncIterable<Buffer>;
  /** This Berth's version, the processor's architecture, and the version of a runtime. */
  versions: { berth: string; architecture: string; of(runtime: string): Promise<string | null> };
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** Agents as archives. */
export class Exports {
  readonly #options: ExportOptions;

  constructor(options: ExportOptions) {
    this.#options = options;
  }

  /**
   * The agent as an archive, which is made as it is read. Its machine is woken for it, and does nothing else until the
   * end: messages that come meanwhile are answered then. The stream fails if it breaks off. Throws as `GuestLeases.use`,
   * and `turn_in_progress`. `gone`: nobody waits for it any more.
   */
  async open(
    agent: AgentState,
    caller: Pick<Caller, "accountId" | "keyId">,
    wanted: { disk: boolean; gone: AbortSignal },
  ): Promise<Readable> {
    const { leases, history, turns } = this.#options;
    await leases.admit(agent, caller);
    if (await history.running(agent.id)) return turns.refuseAnother(agent.id);
    for (;;) {
      const archive = await this.#begin(agent, wanted);
      if (archive) return archive;
    }
  }

  /** Begins an export; null if the agent was put to sleep just then. */
  async #begin(agent: AgentState, wanted: { disk: boolean; gone: AbortSignal }): Promise<Readable | null> {
    const { leases, lifecycle, history, turns } = this.#options;
    const lease = await leases.acquire(agent.id);
    const begun = Promise.withResolvers<Readable | null>();
    const whole = lifecycle.alone(agent.id, async (current) => {
      await using stack = new AsyncDisposableStack();
      if (current.status !== "ready") return begun.resolve(null);
      if (await history.running(agent.id)) await turns.refuseAnother(agent.id);
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
    const { history, write } = this.#options;
    const [turns, installed, settings] = await Promise.all([
      history.count(agent.id),
      guest.listInstalled({}),
      this.#settings(agent),
    ]);
    const disk = withDisk ? await this.#options.packDisk(agent, gone) : null;
    if (disk) stack.defer(() => disk.remove());
    const at = new Date();
    const manifest = await this.#manifest(agent, { at, turns, installed, hasDisk: withDisk });
    const parts: ExportedParts = {
      "berth.json": [json(manifest)],
      "settings.json": [json(settings)],
      "transcript.jsonl": this.#transcript(agent.id),
      "home.tar": folderOf(guest, "home"),
      "state.tar": folderOf(guest, "state"),
      ...(disk ? { "disk.qcow2": disk.bytes() } : {}),
    };
    return taken(write(parts, at));
  }

  /** Resolves when the archive is sent, or nobody wants it any more. */
  async #sent(archive: Readable, agentId: string): Promise<void> {
    const watched = new AbortController();
    archive.once("error", (error) => this.#options.log("an export broke off", { agentId, error }));
    this.#untilDeleted(agentId, watched.signal).then(
      (isDeleted) => isDeleted && archive.destroy(new Error("the agent is being deleted")),
      // Without the database nobody can delete it.
      () => {},
    );
    if (!archive.destroyed) await new Promise((resolve) => archive.once("close", resolve));
    watched.abort();
  }

  async #untilDeleted(agentId: string, signal: AbortSignal): Promise<boolean> {
    for await (const { desired } of this.#options.lifecycle.watch(agentId, signal)) {
      if (desired === "deleted") return true;
    }
    return !signal.aborted;
  }

  async #manifest(
    agent: AgentState,
    { at, turns, installed, hasDisk }: { at: Date; turns: number; installed: Installed; hasDisk: boolean },
  ): Promise<Manifest> {
    const { versions, machines } = this.#options;
    const { name, runtime, conversation } = agent;
    return {
      format: "berth-agent",
      version: archiveVersion,
      exportedAt: at.toISOString(),
      berth: versions.berth,
      agent: name,
      runtime: { name: runtime, version: await versions.of(runtime) },
      machine: { ...(await machines.facts(agent.id)), architecture: versions.architecture },
      conversation,
      counts: { turns },
      installed,
      hasDisk,
      leftOut,
    };
  }

  async #settings(agent: AgentState): Promise<ArchivedSettings> {
    const { id, model, instructions, mcpServers, agents, resources, autoSnapshot } = agent;
    const { rules, secrets: values, history } = this.#options;
    const [network, secrets, retold] = await Promise.all([
      rules.of(id),
      values.list(id),
      agent.retold === null ? null : history.retelling(agent.retold),
    ]);
    return {
      model,
      instructions,
      mcpServers,
      agents,
      resources,
      autoSnapshot,
      retold,
      network: { allow: network.allow, deny: network.deny },
      secrets: secrets.map(({ name, hosts, headers }) => ({ name, hosts, headers })),
    };
  }

  async *#transcript(agentId: string): AsyncGenerator<Buffer> {
    const { history } = this.#options;
    let piece = "";
    for await (const turn of history.finished(agentId)) {
      for await (const line of toLines(turn, history.events(turn.id))) {
        piece += lineOf(line);
        if (piece.length < pieceCharacters) continue;
        yield Buffer.from(piece);
        piece = "";
      }
    }
    if (piece !== "") yield Buffer.from(piece);
  }
}

/** The bytes as a stream, which fails when its reader takes nothing for too long. */
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
