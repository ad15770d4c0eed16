import type { AgentState } from "../agents/agent.ts";
import type { AuthorStore } from "../agents/author-store.ts";
import type { Author } from "../contract/authors.ts";
import type {
  CommandEvent,
  CommandExit,
  CommandRecord,
  CommandResult,
  CommandSignal,
  NumberedCommandEvent,
  RunCommand,
  TerminalSize,
} from "../contract/commands.ts";
import { bytesOf, maximumAnswerBytes } from "../contract/commands.ts";
import { BerthError } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { isUuid } from "../contract/ids.ts";
import type { Caller } from "../core/http/caller.ts";
import { pause } from "../core/retry.ts";
import { type GuestLeases, lostError } from "../lifecycle/guest-leases.ts";
import type { CommandStore } from "./store.ts";

type Owner = Pick<Caller, "accountId" | "personId" | "keyId">;

/** One input: `inputId` identifies it, so that it is accepted once however often it is sent. */
export interface CommandInput {
  inputId: string;
  data: Buffer;
  /** Closes the input after the data. */
  end: boolean;
}

interface ReadOptions {
  after: number;
  /** Begins with the end of a terminal's output, at least that many bytes. */
  lastBytes?: number;
  /** Keeps the machine awake until the command has ended. Without it, a reader waits while the machine sleeps. */
  keepAwake: boolean;
}

/** Consecutive connections to a guest without an event between them. */
const reconnectTries = 5;
const retryMs = 300;
/** How long input waits for a command that does not read it. */
const inputTries = 20;
const inputRetryMs = 250;

/** Commands that an agent's owner runs in its machine. They belong to the machine, which keeps their output. */
export class Commands {
  readonly #leases: GuestLeases;
  readonly #authors: AuthorStore;
  readonly #store: CommandStore;
  readonly #starting = new Set<string>();

  constructor(leases: GuestLeases, authors: AuthorStore, store: CommandStore) {
    this.#leases = leases;
    this.#authors = authors;
    this.#store = store;
  }

  /**
   * Starts the command, or finds the started command with this id. Throws `too_many_commands`, `command_not_runnable`.
   */
  async start(id: string, agent: AgentState, run: RunCommand, caller: Owner): Promise<CommandRecord> {
    let createdBy: Author | null = null;
    this.#starting.add(id);
    try {
      const start = async (guest: GuestClient) => {
        createdBy = await this.#authors.insert(agent.id, "command", [id], caller);
        return guest.startCommand({ id, run });
      };
      const command = await this.#leases.use(agent, caller, start, "again");
      return { ...command, createdBy };
    } catch (error) {
      if (isRefusal(error)) await this.#store.remove(agent.id, id);
      throw error;
    } finally {
      this.#starting.delete(id);
    }
  }

  /** Whether the command may not have reached its machine yet. */
  isStarting(id: string): boolean {
    return this.#starting.has(id);
  }

  /** Running commands and the last finished ones, newest first. */
  async list(agent: AgentState, caller: Owner): Promise<CommandRecord[]> {
    const { commands } = await this.#leases.use(agent, caller, (guest) => guest.listCommands({}), "again");
    const ids = commands.map(({ id }) => id).filter(isUuid);
    const authors = await this.#authors.of(agent.id, "command", ids);
    return commands.map((command) => ({ ...command, createdBy: authors.get(command.id) ?? null }));
  }

  /** Throws `command_not_found`. */
  async find(agent: AgentState, id: string, caller: Owner): Promise<CommandRecord> {
    const found = (await this.list(agent, caller)).find((command) => command.id === id);
    if (found) return found;
    throw new BerthError("command_not_found", `The agent has no command ${id}, or its record has expired.`);
  }

  /**
   * A command's events, up to its end or until `gone` aborts. Continues after lost connections, and while the machine
   * sleeps. Throws `command_not_found`, `machine_failed` and the faults of an agent that failed or was deleted.
   */
  async *events(
    agentId: string,
    id: string,
    { after, lastBytes, keepAwake }: ReadOptions,
    gone: AbortSignal,
  ): AsyncGenerator<NumberedCommandEvent[]> {
    let place: { id: string; after: number; lastBytes?: number } = { id, after };
    if (lastBytes !== undefined) place.lastBytes = lastBytes;
    for (let tries = reconnectTries; !gone.aborted; tries--) {
      try {
        using lease = keepAwake ? await this.#leases.acquire(agentId) : null;
        const guest = await (lease ? lease.connect() : this.#leases.awake(agentId, gone));
        if (!guest) return;
        for await (const batch of guest.commandEvents(place, { signal: gone })) {
          place = { id, after: batch.at(-1)!.seq };
          tries = reconnectTries;
          yield batch;
          if (batch.at(-1)!.event.type === "command.exited") return;
        }
      } catch (error) {
        if (error instanceof BerthError && error.code === "command_exited") return; // It was read to its end before.
        const isAnswer = error instanceof BerthError && error.code !== "machine_failed";
        if (isAnswer || tries <= 1) throw lostError(error);
      }
      await pause(retryMs, gone);
    }
  }

  /** Throws `command_input_full` if the command does not read, `command_not_found`, `command_exited`. */
  async input(agent: AgentState, id: string, { inputId, data, end }: CommandInput, caller: Owner): Promise<void> {
    const request = { id, inputId, data: data.toString("base64"), end };
    for (let tries = inputTries; tries > 0; tries--) {
      const { accepted } = await this.#leases.use(agent, caller, (guest) => guest.commandInput(request), "again");
      if (accepted) return;
      await pause(inputRetryMs);
    }
    const message =
      "The command is not reading stdin; its 1 MiB input buffer is full. None of this input was accepted.";
    throw new BerthError("command_input_full", message);
  }

  /** Throws `command_not_found`, `command_exited`. */
  async signal(agent: AgentState, id: string, signal: CommandSignal, caller: Owner): Promise<void> {
    await this.#leases.use(agent, caller, (guest) => guest.signalCommand({ id, signal }), "once");
  }

  /** Throws `command_not_found`, `command_exited`. */
  async resize(agent: AgentState, id: string, size: TerminalSize, caller: Owner): Promise<void> {
    await this.#leases.use(agent, caller, (guest) => guest.resizeCommand({ id, ...size }), "again");
  }
}

/** Whether the machine has no such command, and will not have it. */
function isRefusal(error: unknown): boolean {
  return error instanceof BerthError && (error.code === "too_many_commands" || error.code === "command_not_runnable");
}

/** Reads a command to its end: its result, with up to 1 MiB of each stream. Null if the events end early. */
export async function resultOf(
  id: string,
  batches: AsyncIterable<NumberedCommandEvent[]>,
): Promise<CommandResult | null> {
  const output = { stdout: new BoundedText(), stderr: new BoundedText() };
  let dropped = false;
  for await (const batch of batches) {
    for (const { event } of batch) {
      if (event.type === "command.exited") return toResult(id, event, output, dropped);
      if (event.type === "command.output_dropped") dropped = true;
      else output[streamOf(event)].add(bytesOf(event));
    }
  }
  return null;
}

function streamOf({ type }: Extract<CommandEvent, { type: "command.stdout" | "command.stderr" }>) {
  return type === "command.stdout" ? "stdout" : "stderr";
}

function toResult(
  id: string,
  { exitCode, signal, timedOut, lost }: CommandExit,
  { stdout, stderr }: Record<"stdout" | "stderr", BoundedText>,
  dropped: boolean,
): CommandResult {
  const truncated = dropped || stdout.truncated || stderr.truncated;
  return { id, exitCode, signal, timedOut, lost, stdout: stdout.text, stderr: stderr.text, truncated };
}

/** The initial capacity of a stream's buffer. */
const firstBytes = 4_096;

/** The first bytes of a stream in one buffer: a guest may send them one by one. */
class BoundedText {
  #bytes = new Uint8Array(firstBytes);
  #size = 0;
  truncated = false;

  add(chunk: Uint8Array): void {
    const part = chunk.subarray(0, maximumAnswerBytes - this.#size);
    if (part.length < chunk.length) this.truncated = true;
    const size = this.#size + part.length;
    if (size > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(Math.max(2 * this.#bytes.length, size), maximumAnswerBytes));
      larger.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = larger;
    }
    this.#bytes.set(part, this.#size);
    this.#size = size;
  }

  get text(): string {
    return Buffer.from(this.#bytes.buffer, 0, this.#size).toString("utf8");
  }
}
