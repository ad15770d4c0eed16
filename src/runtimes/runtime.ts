import { join } from "node:path";
import type { AcpProgram } from "../contract/acp-program.ts";
import { type Resources, usualResources } from "../contract/agents.ts";
import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import type { Prompt as GuestPrompt } from "../contract/guest.ts";
import type { McpServers } from "../contract/mcp-servers.ts";
import type { WireName } from "../contract/providers.ts";
import type { AbilityName } from "../contract/runtimes.ts";
import type { Approvals } from "./approvals.ts";

/** The environment that a runtime in a guest is started in. */
export interface RuntimeContext {
  /** The agent's home and working folder. */
  home: string;
  uid: number;
  gid: number;
  /** The folder of the runtimes' npm packages, `node_modules`. */
  packages: string;
  /** The gateway's address in the guest, `http://127.0.0.1:PORT`, without a provider's name. */
  gatewayUrl: string;
  /** The proxy for the guest's programs, `http://127.0.0.1:PORT`. */
  proxyUrl: string;
  /** A root-owned folder on the agent's disk, for what a driver needs after a restart. */
  stateFolder: string;
  /** The MCP server, over streamable HTTP, that offers functions of a turn's client. */
  functionsUrl: string;
  /**
   * The port on 127.0.0.1 where the runtime may listen. It is the same at every start, and unreachable from outside the
   * guest.
   */
  runtimePort: number;
  /**
   * A script that sets the agent's secret placeholders as variables. It may change at any time. The agent's user can
   * read files in its folder, but only by name.
   */
  environmentFile: string;
  /** Decides about each use of a tool that the runtime asks for. */
  approvals: Approvals;
  /** Called with each line of the runtime's error output. */
  log: (line: string) => void;
}

/** The folder with the skills of the agent's workspace, one folder each. Its parent's parent is `addedFolder`. */
export function skillsFolder(context: Pick<RuntimeContext, "stateFolder">): string {
  return join(addedFolder(context), ".claude", "skills");
}

/** A folder in which Claude Code finds skills as in a project. */
export function addedFolder({ stateFolder }: Pick<RuntimeContext, "stateFolder">): string {
  return join(stateFolder, "skills", "added");
}

/** A runtime's settings at its start: it keeps these servers until it ends. */
export interface StartContext extends RuntimeContext {
  /** The agent's own program, which a runtime that needs one starts. */
  program: AcpProgram | null;
  /** The agent's own MCP servers by name, with the placeholders of its secrets. */
  mcpServers: McpServers;
  /** The runtime's id of the session to continue; `latestSession`, or null for a new one. */
  session: string | null;
}

/** Stands for the newest session on the disk, if there is one, of a machine that did not record its sessions. */
export const latestSession = "latest";

/**
 * A message to the agent, and the model to answer it: `anthropic/NAME`, `openai/NAME`, `google/NAME` or `demo/demo`, whatever the
 * model's provider. The runtime requests NAME from the gateway's API of that name. `demo` answers on any API, to any name. Null is the runtime's
 * own default, and so is a missing effort.
 */
export interface Prompt extends Pick<GuestPrompt, "message" | "model" | "effort"> {
  /** The message's images, for the model. They are files in the agent's home, too, which the message names. */
  images?: readonly PromptImage[];
}

/** An image as models get it. */
export interface PromptImage {
  mediaType: string;
  /** In base64. */
  data: string;
}

/** A running runtime, in one of the agent's conversations. */
export interface Session {
  /** The runtime's id of the session that prompts are sent to. A runtime that starts later can continue it. */
  readonly id: string;
  /**
   * Runs one turn and returns its last event. `emit` is called with each earlier event, in order. Aborting `signal`
   * interrupts the turn. Never rejects: if the runtime dies, the turn ends with `response.failed`.
   */
  prompt(prompt: Prompt, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent>;
  /** Delivers a message to the running turn. False: it takes none, or no turn runs. */
  steer(message: string): Promise<boolean>;
  /**
   * Switches to the session with this id, or to a new, empty one (null), without a new process of its own. A session that
   * the runtime does not have is replaced by a new one.
   */
  enter(id: string | null): Promise<void>;
  /** Kills the runtime's processes. */
  stop(): void;
  /** Settles when the runtime's process has ended, for whatever reason. */
  readonly ended: Promise<void>;
}

/** The abilities that a client may ask for, with the reason where one is limited or missing. */
export type Abilities = Record<AbilityName, true | { supported: boolean; reason: string }>;

/** All abilities. `instructions`, `usage` and `output` need no support from a runtime: the gateway and the runner provide them. */
export const allAbilities: Abilities = {
  instructions: true,
  model: true,
  effort: true,
  reset: true,
  cancel: true,
  tools: true,
  reasoning: true,
  usage: true,
  permissions: true,
  steer: true,
  output: true,
};

/** Everything specific to one runtime. To add a runtime, add a file that exports one of these. */
export interface Runtime {
  readonly name: string;
  /** One sentence for people who choose a runtime. */
  readonly description: string;
  /** The npm package in the guest image whose version is the runtime's; null: it starts each agent's own program. */
  readonly package: string | null;
  /** Whether it can start only with a program that the agent's settings name. */
  readonly needsProgram?: boolean;
  readonly abilities: Abilities;
  /** The default memory of its machines, in MiB: its peak use, and the same again for its tools. */
  readonly memoryMiB: number;
  /** The APIs of models that it can use, the usual one first. */
  readonly wires: readonly WireName[];
  /**
   * Default models if none was chosen, best first, as prefixes of model ids. Null if the runtime chooses, from the
   * usual provider of its first API.
   */
  readonly defaultModels: readonly string[] | null;
  /**
   * Prompts that make it load and compile whatever a turn needs while a template is warmed. The model that answers them
   * understands `run: COMMAND`.
   */
  readonly warmUp: readonly Prompt[];
  /**
   * Starts the runtime in the session that the context names. Rejects with a `BerthError` if it cannot.
   */
  start(context: StartContext): Promise<Session>;
}

/** For an agent whose runtime no longer exists. */
const leastMiB = 1024;

/** The default size of a runtime's machine. */
export function resourcesOf(runtimes: readonly Pick<Runtime, "name" | "memoryMiB">[], name: string): Resources {
  return usualResources(runtimes.find((each) => each.name === name)?.memoryMiB ?? leastMiB);
}
