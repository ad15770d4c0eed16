import { createHash } from "node:crypto";
import { AgentName, type CreateAgent, type ForkSource } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { uuidOf } from "../contract/ids.ts";
import { type AgentState, requireAllowed } from "./agent.ts";
import type { Agents } from "./agents.ts";
import type { Attempt } from "./idempotency.ts";
import type { Lifecycle } from "./lifecycle/lifecycle.ts";
import type { SnapshotState, Snapshots } from "./snapshots.ts";

/** A request for new agents with the state of another. */
type AskedFork = CreateAgent & { from: ForkSource };

interface ForkOptions {
  agents: Agents;
  rows: {
    byId(id: string): Promise<AgentState | null>;
    byNames(accountId: string, names: readonly string[]): Promise<{ name: string }[]>;
  };
  snapshots: Snapshots;
  lifecycle: Lifecycle;
  /** What an agent has beside its row and its machine. Each is given to an agent as another one has it. */
  settings: Record<"secrets" | "network", { copy(from: string, to: string): Promise<void> }>;
}

/** What a fork begins with. */
interface Moment extends Pick<SnapshotState, "id" | "runtime" | "conversation" | "retold"> {
  /** The snapshot's; null for the agent as it is now. */
  name: string | null;
}

/** New agents that begin with what another one is or was: its files, its running programs, its conversation. */
export class Forks {
  readonly #options: ForkOptions;

  constructor(options: ForkOptions) {
    this.#options = options;
  }

  /**
   * Creates `count` agents, all of one moment, with identities of their own. Answers the first. Throws what creating an
   * agent throws, `snapshot_not_found`, and `request_invalid` for what the source decides.
   */
  async create(accountId: string, asked: AskedFork, attempt: Attempt): Promise<AgentState> {
    const { agents, rows, snapshots } = this.#options;
    const made = attempt.earlier === "none" ? null : await rows.byId(attempt.resourceId);
    if (made) return made;
    const source = await agents.find(accountId, asked.from.agent);
    requireAllowed("chat", source);
    const moment = asked.from.snapshot === undefined ? null : await snapshots.find(source, asked.from.snapshot);
    const { runtime } = moment ?? source;
    refuseOtherMachine(runtime, asked);
    const names = namesOf(asked);
    const taken = await rows.byNames(accountId, names);
    if (taken.length > 0) throw new BerthError("agent_exists", `There is already an agent ${taken[0]!.name}.`);
    const whole = { ...settingsOf(source), ...asked, runtime };
    await agents.requireCreatable(accountId, whole);
    if (moment) return this.#make(source, names, whole, moment, attempt);
    const make = (id: string, { runtime, conversation, retold }: AgentState) =>
      this.#make(source, names, whole, { id, runtime, conversation, retold, name: null }, attempt);
    return snapshots.takeFor(source, make);
  }

  /** All of them or none. */
  async #make(
    source: AgentState,
    names: readonly string[],
    asked: AskedFork,
    { id: snapshot, runtime, conversation, retold, name }: Moment,
    { resourceId }: Attempt,
  ): Promise<AgentState> {
    const { agents, lifecycle, settings } = this.#options;
    const { id: sourceId, accountId, resources } = source;
    const forks = names.map((each, index) => ({
      ...agents.newAgent(idOf(resourceId, index), accountId, { ...asked, runtime, name: each }),
      resources,
      conversation,
      retold,
      restores: 1,
      snapshot,
      forkedFrom: { agent: source.name, snapshot: name },
    }));
    const made: AgentState[] = [];
    try {
      for (const fork of forks) {
        made.push(fork);
        await lifecycle.create(fork, async () => {
          await settings.network.copy(sourceId, fork.id);
          if (asked.from.secrets) await settings.secrets.copy(sourceId, fork.id);
        });
      }
    } catch (error) {
      for (const { id } of made) await lifecycle.delete(id);
      throw error;
    }
    return forks[0]!;
  }
}

/** The names of the new agents: the one that was asked for, or NAME-1, NAME-2, …. Throws `request_invalid`. */
function namesOf({ name, count }: CreateAgent): string[] {
  if (count === undefined) return [name];
  const names = Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
  const long = names.find((each) => !AgentName.safeParse(each).success);
  if (long === undefined) return names;
  throw new BerthError("request_invalid", `name: ${long} would have more than the 30 characters that are allowed.`);
}

/** The ids of the agents of one request, the same in each attempt. */
function idOf(resourceId: string, index: number): string {
  if (index === 0) return resourceId;
  return uuidOf(createHash("sha256").update(`${resourceId} ${index}`).digest("hex").slice(0, 32));
}

function settingsOf({ model, instructions, mcpServers, agents, autoSnapshot }: AgentState) {
  return { model, instructions, mcpServers, agents, autoSnapshot };
}

/** A fork has its source's runtime and size: they are in its memory and its disk. */
function refuseOtherMachine(then: string, { runtime, resources }: AskedFork): void {
  if (runtime !== undefined && runtime !== then) {
    const message = `runtime: a fork has the runtime of its source, ${then}.`;
    throw new BerthError("request_invalid", message);
  }
  if (resources) throw new BerthError("request_invalid", "resources: a fork has the size of its source.");
}
