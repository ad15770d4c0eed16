import { randomUUID } from "node:crypto";
import type { AgentState } from "../agents/agent.ts";
import { type NumberedCommandEvent, RunCommand, type TerminalSize } from "../contract/commands.ts";
import { BerthError } from "../contract/errors.ts";
import type { Caller } from "../core/http/caller.ts";
import type { Commands } from "./commands.ts";

/** How much of a session's latest output a new viewer receives, in bytes. */
const shownBytes = 256 * 1024;

interface TerminalRequest extends TerminalSize {
  /** The session to join; a new one without it. */
  session?: string | undefined;
  /** Of the session, only events after this one. */
  after?: number | undefined;
  user: "agent" | "root";
}

/** A viewer's access to a session: a login shell on a terminal in the machine, which is one of the agent's commands. */
export interface TerminalSession {
  readonly id: string;
  /** The session's events, up to its end. Does not keep the machine awake. */
  events(gone: AbortSignal): AsyncIterable<NumberedCommandEvent[]>;
  /** Wakes the machine. An input with an `inputId` is accepted once however often it is sent. */
  input(data: Buffer, inputId?: string): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
}

/** Terminals in agents' machines. */
export class Terminals {
  readonly #commands: Commands;

  constructor(commands: Commands) {
    this.#commands = commands;
  }

  /**
   * Joins a session, or starts one; wakes the machine. Throws `command_not_found` for an unknown session or a command
   * without a terminal, and the errors of `Commands.start`.
   */
  async open(agent: AgentState, request: TerminalRequest, caller: Caller): Promise<TerminalSession> {
    const { session, after, cols, rows, user } = request;
    const size = { cols, rows };
    const id = session ?? randomUUID();
    if (session === undefined) await this.#begin(id, agent, { user, size }, caller);
    else await this.#join(id, agent, size, caller);
    const place = after === undefined ? { after: 0, lastBytes: shownBytes } : { after };
    return {
      id,
      events: (gone) => this.#commands.events(agent.id, id, { ...place, keepAwake: false }, gone),
      input: (data, inputId = randomUUID()) => this.#commands.input(agent, id, { inputId, data, end: false }, caller),
      resize: (changed) => this.#commands.resize(agent, id, changed, caller),
    };
  }

  async #begin(
    id: string,
    agent: AgentState,
    { user, size }: { user: "agent" | "root"; size: TerminalSize },
    caller: Caller,
  ): Promise<void> {
    const shell = RunCommand.parse({ command: ["bash", "-l"], user, terminal: size, detach: true });
    await this.#commands.start(id, agent, shell, caller);
  }

  async #join(id: string, agent: AgentState, size: TerminalSize, caller: Caller): Promise<void> {
    const { terminal, status } = await this.#commands.find(agent, id, caller);
    if (!terminal) throw new BerthError("command_not_found", `The command ${id} does not run on a terminal.`);
    // The latest viewer decides.
    if (status === "running") await this.#commands.resize(agent, id, size, caller);
  }
}
