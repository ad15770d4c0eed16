import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import type { Prompt as GuestPrompt } from "../contract/guest.ts";
import type { ModelProvider } from "../contract/models.ts";
import type { AbilityName } from "../contract/runtimes.ts";

/** What a runtime is started with, in the guest. */
export interface RuntimeContext {
  /** The agent's home, which is also where it works. */
  home: string;
  uid: number;
  gid: number;
  /** The folder of the runtimes' npm packages, `node_modules`. */
  packages: string;
  /** The gateway as seen from the guest, `http://127.0.0.1:PORT`, without a provider's name. */
  gatewayUrl: string;
  /** The proxy through which programs in the guest reach the web, `http://127.0.0.1:PORT`. */
  proxyUrl: string;
  /** A folder of root's on the agent's disk, in which a driver keeps what it must find again after a restart. */
  stateFolder: string;
  /**
   * What stands for the agent's secrets, as a script that sets variables; it may change at any time. Its folder is one
   * in which the agent's user can read what it knows the name of.
   */
  environmentFile: string;
  /** Where the runtime's own error output goes, a line at a time. */
  log: (line: string) => void;
}

/**
 * A message to the agent, and with which model it is to be answered: `anthropic/NAME`, `openai/NAME` or `demo/demo`.
 * The runtime asks the gateway's API of that provider for NAME; `demo` answers on any, to any name. Null leaves the
 * runtime its own default.
 */
export type Prompt = Pick<GuestPrompt, "message" | "model">;

/** A runtime that runs, with its one conversation. */
export interface Session {
  /**
   * Makes one turn and answers how it ended. `emit` is called with each event before that, in order. Aborting
   * `signal` interrupts the turn. Never rejects: a runtime that dies ends the turn as `response.failed`.
   */
  prompt(prompt: Prompt, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent>;
  /** Begins a new, empty conversation without a new process. */
  clear(): Promise<void>;
  /** Kills the runtime's processes. */
  stop(): void;
  /** Settles when the runtime's process has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/** What a runtime can do of that which a client may ask for; where not all of it, why. */
export type Abilities = Record<AbilityName, true | { supported: boolean; reason: string }>;

/** All of it. `instructions` and `usage` need nothing of a runtime: the gateway sees to them. */
export const allAbilities: Abilities = {
  instructions: true,
  model: true,
  reset: true,
  cancel: true,
  tools: true,
  reasoning: true,
  usage: true,
};

/** All that is particular to one runtime. Adding a runtime is adding a file that exports one of these. */
export interface Runtime {
  readonly name: string;
  /** The npm package of the guest image whose version is the runtime's. */
  readonly package: string;
  readonly abilities: Abilities;
  /** What a machine of it has where nothing else is asked, MiB: what it takes at its peak, and as much for its tools. */
  readonly memoryMiB: number;
  /** The providers whose models it can use. */
  readonly providers: readonly Exclude<ModelProvider, "demo">[];
  /**
   * What it takes where no model was chosen, best first, as beginnings of models' ids. Null: it knows by itself, with
   * the first of its providers.
   */
  readonly defaultModels: readonly string[] | null;
  /**
   * Prompts that make it load and compile whatever a turn needs, while a template is warmed. The model that
   * answers them understands `run: COMMAND`.
   */
  readonly warmUp: readonly Prompt[];
  /**
   * Starts the runtime, in the conversation that the agent's disk holds where there is one. Rejects with a
   * `BerthError` when it cannot.
   */
  start(context: RuntimeContext): Promise<Session>;
}
