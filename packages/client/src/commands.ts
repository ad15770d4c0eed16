import type { Connection, RequestOptions, Sendable } from "./connection.ts";
import { NotBerthError } from "./errors.ts";
import { followEvents } from "./events.ts";
import { CommandsMethods } from "./generated/methods.gen.ts";
import type { Command, CommandEvent, CommandResult, RunCommand, SignalCommand } from "./generated/types.gen.ts";

/** A command without the words that say how it is answered. */
export type CommandLine = Omit<Sendable<RunCommand>, "detach">;

/** How a command's output is read. */
export interface CommandReadOptions {
  /** When aborted, waiting ends. The command continues. */
  signal?: AbortSignal | undefined;
  /** Called when the connection breaks, before the client reconnects. */
  onBroken?: () => void;
}

/** The commands of an agent's machine. Every method throws as `Connection.call`. */
export class AgentCommands extends CommandsMethods {
  /** Runs a command to its end. Read `stream` for one that takes long or says much. */
  run(command: CommandLine, options: RequestOptions = {}): Promise<CommandResult> {
    return this.connection.call("runCommand", { path: this.path, body: { ...command, detach: false }, ...options });
  }

  /** Starts a command and leaves it running. */
  async start(command: CommandLine, options: RequestOptions = {}): Promise<Command> {
    const body = { ...command, detach: true };
    return (await this.connection.call("runCommand", { path: this.path, body, ...options })) as unknown as Command;
  }

  /** Runs a command, which is sent when its events are read. */
  stream(command: CommandLine, options: CommandReadOptions = {}): RunningCommand {
    return new RunningCommand(this.connection, this.path, { command }, options);
  }

  /** The events of a command that has begun, from the one after `after` on. */
  events(id: string, { after = 0, ...options }: CommandReadOptions & { after?: number } = {}): RunningCommand {
    return new RunningCommand(this.connection, this.path, { id, after }, options);
  }

  /** Writes to the input of a command that was started with `openStdin`; with `end`, closes it. At most 512 KiB. */
  async write(
    id: string,
    data: string | Uint8Array<ArrayBuffer>,
    { end = false, ...options }: RequestOptions & { end?: boolean } = {},
  ): Promise<void> {
    const path = { ...this.path, commandId: id };
    const query = { end: end ? ("true" as const) : ("false" as const) };
    await this.connection.call("writeCommandInput", { path, query, body: new Blob([data]), ...options });
  }

  /** Sends a signal to a command and what it has started. */
  async signal(id: string, signal: SignalCommand["signal"], options: RequestOptions = {}): Promise<void> {
    await this.connection.call("signalCommand", {
      path: { ...this.path, commandId: id },
      body: { signal },
      ...options,
    });
  }
}

type Place = { command: CommandLine } | { id: string; after: number };

/** The last event of a command. */
export type CommandExited = Extract<CommandEvent, { type: "command.exited" }>;

/**
 * A command's events, each once, in order, up to `command.exited`. A connection that breaks is opened again, from the
 * event after the last one received. It can be read once.
 */
export class RunningCommand implements AsyncIterable<CommandEvent> {
  readonly #connection: Connection;
  readonly #path: { name: string };
  readonly #place: Place;
  readonly #options: CommandReadOptions;
  #id: string | null;
  #begun!: (id: string) => void;
  #failed!: (error: unknown) => void;
  /** The command's id, as soon as the service has started it. */
  readonly id: Promise<string>;

  constructor(connection: Connection, path: { name: string }, place: Place, options: CommandReadOptions) {
    this.#connection = connection;
    this.#path = path;
    this.#place = place;
    this.#options = options;
    this.#id = "id" in place ? place.id : null;
    this.id = new Promise((resolve, reject) => {
      this.#begun = resolve;
      this.#failed = reject;
    });
    this.id.catch(() => {}); // The reader gets the error.
    if (this.#id !== null) this.#begun(this.#id);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CommandEvent> {
    const { signal, onBroken } = this.#options;
    const open = (lastId: string | null, again: boolean) => this.#open(lastId, again);
    const isLast = ({ type }: CommandEvent) => type === "command.exited";
    try {
      yield* followEvents<CommandEvent>(open, { isLast, signal, ...(onBroken ? { onBroken } : {}) });
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  async #open(lastId: string | null, again: boolean): Promise<Response> {
    const { signal } = this.#options;
    if (this.#id !== null) {
      const query = { after: Number(lastId ?? ("after" in this.#place ? this.#place.after : 0)) };
      const path = { ...this.#path, commandId: this.#id };
      return this.#connection.request("getCommandEvents", { path, query, signal, once: again });
    }
    const body = "command" in this.#place ? this.#place.command : { command: "" };
    const headers = { accept: "text/event-stream" };
    const response = await this.#connection.request("runCommand", { path: this.#path, body, headers, signal });
    this.#id = response.headers.get("x-command-id");
    if (this.#id === null) throw new NotBerthError("The server there is not Berth: its response names no command.");
    this.#begun(this.#id);
    return response;
  }
}

/** The bytes of an event of output; none for any other event. */
export function outputBytes(event: CommandEvent): Uint8Array {
  if (!("text" in event || "base64" in event)) return new Uint8Array();
  const { text, base64 } = event as { text?: string; base64?: string };
  if (base64 === undefined) return new TextEncoder().encode(text ?? "");
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
