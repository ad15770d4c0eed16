import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CommandExit,
  type CommandSignal,
  type MachineCommand,
  type RunCommand,
  type TerminalSize,
  timeoutOf,
} from "../../contract/commands.ts";
import { startOf } from "../../core/process-table.ts";
import type { RuntimeContext } from "../../runtimes/runtime.ts";
import { CommandOutput } from "./command-output.ts";
import { type CommandProcess, folderOf, killGroup, startProcess } from "./command-process.ts";
import { OutputDecoder } from "./output-text.ts";
import type { PreparedShells } from "./prepared-shells.ts";

/** How many input ids are remembered, so that a repeated input is not read twice. */
const rememberedInputs = 1_000;

interface Stored {
  record: MachineCommand;
  /** The leader of the process group and its start time; null before the start. */
  leader: { pid: number; start: string } | null;
}

export class Command {
  readonly #folder: string;
  #record: MachineCommand;
  #output: CommandOutput | null;
  #process: CommandProcess | null = null;
  #timer: NodeJS.Timeout | undefined;
  #timedOut = false;
  readonly #inputs = new Set<string>();
  readonly #ended = Promise.withResolvers<void>();

  private constructor(folder: string, record: MachineCommand, output: CommandOutput | null) {
    this.#folder = folder;
    this.#record = record;
    this.#output = output;
  }

  static async start(
    id: string,
    run: RunCommand,
    folder: string,
    context: RuntimeContext,
    shells: PreparedShells,
  ): Promise<Command> {
    const record: MachineCommand = {
      id,
      command: shortened(run.command),
      cwd: folderOf(run, context),
      user: run.user,
      detached: run.detach,
      terminal: run.terminal !== undefined,
      status: "running",
      startedAt: new Date().toISOString(),
      exitedAt: null,
      exitCode: null,
      signal: null,
      timedOut: false,
      lost: false,
      outputBytes: 0,
    };
    const output = new CommandOutput(folder, (waits) => command.#process?.hold(waits));
    const command: Command = new Command(folder, record, output);
    if (!run.detach) output.awaitReader();
    await command.#begin(run, context, shells);
    return command;
  }

  /**
   * Loads the command that an earlier runner left in `folder`; null if it is incomplete. Kills its remaining processes,
   * because their output has no reader.
   */
  static async load(folder: string): Promise<Command | null> {
    const { record, leader } = readStored(folder) ?? {};
    if (!record) return null;
    const command = new Command(folder, record, null);
    if (record.status === "running") {
      if (leader && startOf(leader.pid) === leader.start) killGroup(leader.pid, "SIGKILL");
      command.#output = await CommandOutput.load(folder, record.outputBytes);
      command.#exit({ exitCode: null, signal: null, timedOut: false, lost: true });
    }
    return command;
  }

  get record(): MachineCommand {
    return this.#record;
  }

  get running(): boolean {
    return this.#record.status === "running";
  }

  /** Resolves when a command of this runner has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Events of an earlier runner's command are read from the disk on first use. */
  async output(): Promise<CommandOutput> {
    this.#output ??= await CommandOutput.load(this.#folder, this.#record.outputBytes);
    return this.#output;
  }

  /** Forwards input once per `inputId`. False if the buffer is full. */
  input(inputId: string, data: Buffer, end: boolean): boolean {
    if (this.#inputs.has(inputId)) return true;
    if (!this.#process!.write(data)) return false;
    if (end) this.#process!.end();
    this.#inputs.add(inputId);
    if (this.#inputs.size > rememberedInputs) this.#inputs.delete(this.#inputs.values().next().value!);
    return true;
  }

  signal(signal: CommandSignal): void {
    killGroup(this.#process!.pid, signal);
  }

  resize(size: TerminalSize): void {
    this.#process!.resize(size);
  }

  async #begin(run: RunCommand, context: RuntimeContext, shells: PreparedShells): Promise<void> {
    const decoders = { stdout: new OutputDecoder(), stderr: new OutputDecoder() };
    const tell = (stream: "stdout" | "stderr", text: ReturnType<OutputDecoder["end"]>) => {
      if (text) this.#output!.append({ type: `command.${stream}`, ...text });
    };
    this.#process = await startProcess(run, context, shells, {
      output: (stream, chunk) => {
        this.#record.outputBytes += chunk.length;
        tell(stream, decoders[stream].write(chunk));
      },
      exited: (exitCode, signal) => {
        tell("stdout", decoders.stdout.end());
        tell("stderr", decoders.stderr.end());
        this.#exit({ exitCode, signal, timedOut: this.#timedOut, lost: false });
      },
    });
    if (!this.running) return; // A short command has exited by now.
    this.#store();
    const timeoutMs = timeoutOf(run);
    if (timeoutMs !== null) this.#timer = setTimeout(() => this.#timeOut(), timeoutMs);
  }

  #timeOut(): void {
    this.#timedOut = true;
    killGroup(this.#process!.pid, "SIGKILL");
  }

  #exit(exit: CommandExit): void {
    clearTimeout(this.#timer);
    this.#record = { ...this.#record, ...exit, status: "exited", exitedAt: new Date().toISOString() };
    // Store the record first: a reader of the last event must find the command exited.
    this.#store();
    this.#output!.append({ type: "command.exited", ...exit });
    this.#process = null;
    this.#ended.resolve();
  }

  /** Synchronous, like the output's files. On a full disk the command continues; its record is lost with the runner. */
  #store(): void {
    const pid = this.#process?.pid;
    const start = pid === undefined ? null : startOf(pid);
    const leader = pid === undefined || start === null ? null : { pid, start };
    try {
      const stored: Stored = { record: this.#record, leader };
      writeFileSync(join(this.#folder, "record.new"), JSON.stringify(stored), { mode: 0o600 });
      renameSync(join(this.#folder, "record.new"), join(this.#folder, "record.json"));
    } catch {}
  }
}

/** Limit on the command in its record, in characters. */
const shownCharacters = 4_096;

function shortened(command: RunCommand["command"]): RunCommand["command"] {
  const text = typeof command === "string" ? command : command.join(" ");
  return text.length <= shownCharacters ? command : `${text.slice(0, shownCharacters).toWellFormed()}…`;
}

function readStored(folder: string): Stored | null {
  try {
    return JSON.parse(readFileSync(join(folder, "record.json"), "utf8")) as Stored;
  } catch {
    return null;
  }
}
