import { mkdirSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  CommandExit,
  type MachineCommand,
  maximumEnded,
  maximumRunning,
  type RunCommand,
} from "../../contract/commands.ts";
import type { RuntimeContext } from "../../runtimes/runtime.ts";
import { GuestError } from "../control.ts";
import { Command } from "./command.ts";
import { folderOf } from "./command-process.ts";
import { PreparedShells } from "./prepared-shells.ts";

interface CommandEnd {
  id: string;
  exit: CommandExit | null;
}

/** The owner's commands: running ones, and the last ones that exited. Each has a folder. */
export class Commands {
  readonly #folder: string;
  readonly #context: RuntimeContext;
  readonly #shells = new PreparedShells();
  /** In order of their start. */
  readonly #commands = new Map<string, Command>();
  readonly #starting = new Map<string, Promise<Command>>();
  readonly #loaded: Promise<void>;

  constructor(folder: string, context: RuntimeContext) {
    this.#folder = folder;
    this.#context = context;
    this.#loaded = this.#load();
    this.#loaded.catch((error: Error) => context.log(`the commands of before cannot be read: ${error.message}`));
  }

  /** Starts a command, or returns the one with this id. Throws `too_many_commands`, `command_not_runnable`. */
  async start(id: string, run: RunCommand): Promise<MachineCommand> {
    await this.#loaded;
    const known = this.#commands.get(id) ?? (await this.#starting.get(id));
    if (known) return known.record;
    const starting = this.#start(id, run);
    this.#starting.set(id, starting);
    try {
      const command = await starting;
      this.#commands.set(id, command);
      return command.record;
    } catch (error) {
      await rm(join(this.#folder, id), { recursive: true, force: true });
      throw error;
    } finally {
      this.#starting.delete(id);
      void this.#prune();
    }
  }

  /** Throws `command_not_found`. */
  async find(id: string): Promise<Command> {
    await this.#loaded;
    const command = this.#commands.get(id);
    if (!command) throw new GuestError("command_not_found", "The agent has no such command, or has it no longer.");
    return command;
  }

  /** Throws `command_not_found`, and `command_exited` if it has exited. */
  async running(id: string): Promise<Command> {
    const command = await this.find(id);
    if (!command.running) throw new GuestError("command_exited", "The command has ended.");
    return command;
  }

  /** Newest first. */
  async list(): Promise<MachineCommand[]> {
    await this.#loaded;
    let ended = 0;
    const all = [...this.#commands.values()].map(({ record }) => record).reverse();
    return all.filter(({ status }) => status === "running" || ++ended <= maximumEnded);
  }

  /** Yields each command when it has ended; with null, one that the machine does not have. */
  async *ends(ids: readonly string[], gone: AbortSignal): AsyncGenerator<CommandEnd[]> {
    await this.#loaded;
    const running = new Set<Command>();
    const ended: CommandEnd[] = [];
    for (const id of ids) {
      const command = this.#commands.get(id) ?? (await this.#starting.get(id)?.catch(() => undefined));
      if (command?.running) running.add(command);
      else ended.push({ id, exit: command ? exitOf(command) : null });
    }
    if (ended.length > 0) yield ended;
    const left = new Promise((resolve) => gone.addEventListener("abort", resolve, { once: true }));
    while (running.size > 0 && !gone.aborted) {
      await Promise.race([left, ...[...running].map((command) => command.ended)]);
      const over = [...running].filter((command) => !command.running);
      for (const command of over) running.delete(command);
      if (over.length > 0) yield over.map((command) => ({ id: command.record.id, exit: exitOf(command) }));
    }
  }

  /** Ends the shells that wait for a command. Commands continue. */
  end(): void {
    this.#shells.end();
  }

  async #start(id: string, run: RunCommand): Promise<Command> {
    const running = [...this.#commands.values()].filter((each) => each.running).length;
    if (running + this.#starting.size >= maximumRunning) {
      const message = `${maximumRunning} commands of the agent run already, which is the most: end one, or wait for it.`;
      throw new GuestError("too_many_commands", message);
    }
    const cwd = folderOf(run, this.#context);
    const isFolder = await stat(cwd).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw new GuestError("command_not_runnable", `There is no folder ${cwd} in the machine.`);
    const folder = join(this.#folder, id);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return await Command.start(id, run, folder, this.#context, this.#shells);
    } catch (error) {
      throw new GuestError("command_not_runnable", `The command cannot be started: ${(error as Error).message}`);
    }
  }

  /** Removes the oldest exited commands. */
  async #prune(): Promise<void> {
    const ended = [...this.#commands.values()].filter(({ running }) => !running);
    for (const { record } of ended.slice(0, -maximumEnded)) {
      const { id } = record;
      this.#commands.delete(id);
      await rm(join(this.#folder, id), { recursive: true, force: true }).catch(() => {});
    }
  }

  async #load(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const found: Command[] = [];
    for (const id of await readdir(this.#folder)) {
      const command = await Command.load(join(this.#folder, id));
      if (command) found.push(command);
      else await rm(join(this.#folder, id), { recursive: true, force: true });
    }
    found.sort((a, b) => (a.record.startedAt < b.record.startedAt ? -1 : 1));
    for (const command of found) this.#commands.set(command.record.id, command);
  }
}

function exitOf({ record }: Command): CommandExit {
  return CommandExit.parse(record);
}
