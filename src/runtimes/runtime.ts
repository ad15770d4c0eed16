import type { RuntimeName } from "../contract/agents.ts";
import type { TurnEvent } from "../contract/chat.ts";

/** What a runtime is started with, in the guest. */
export interface Surroundings {
  /** The agent's home, which is also where it works. */
  home: string;
  uid: number;
  gid: number;
  /** The gateway as seen from the guest, `http://127.0.0.1:PORT`, without a provider's name. */
  gatewayUrl: string;
  /** Where the runtime's own error output goes, a line at a time. */
  log: (line: string) => void;
}

/** One of `response.completed`, `response.failed`, `response.cancelled`. */
export type LastEvent = Extract<TurnEvent, { type: "response.completed" | "response.failed" | "response.cancelled" }>;

/** A runtime that runs, with its one conversation. */
export interface Session {
  /**
   * Makes one turn and answers how it ended. `emit` is called with each event before that, in order. Aborting
   * `signal` interrupts the turn. Never rejects: a runtime that dies ends the turn as `response.failed`.
   */
  prompt(message: string, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent>;
  /** Begins a new, empty conversation without a new process. */
  clear(): Promise<void>;
  /** Kills the runtime's processes. */
  stop(): void;
  /** Settles when the runtime's process has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/** All that is particular to one runtime. Adding a runtime is adding a file that exports one of these. */
export interface Runtime {
  readonly name: RuntimeName;
  /**
   * Messages that make it load and compile whatever a turn needs, while a template is warmed. The model that
   * answers them understands `run: COMMAND`.
   */
  readonly warmUp: readonly string[];
  /**
   * Starts the runtime, in the conversation that the agent's disk holds where there is one. Rejects with a
   * `BerthError` when it cannot.
   */
  start(surroundings: Surroundings): Promise<Session>;
}
