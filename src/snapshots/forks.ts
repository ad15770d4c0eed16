import { createHash } from "node:crypto";
import { type AgentState, requireAllowed } from "../agents/agent.ts";
import type { AgentOwner } from "../agents/agents.ts";
import type { AppContext } from "../context.ts";
import { AgentName, type CreateAgent, type ForkSource, settingsOf } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { uuidOf } from "../contract/ids.ts";
import { routes } from "../contract/routes.ts";
import type { Viewer } from "../core/http/access.ts";
import type { Attempt } from "../core/http/attempt.ts";
import type { SnapshotState } from "./snapshot.ts";

/** A request for new agents with the state of another. */
type AskedFork = CreateAgent & { from: ForkSource };

/** A fork's initial state. */
interface Moment extends Pick<SnapshotState, "id" | "runtime" | "conversation" | "retold"> {
  /** Null: the agent's current state. */
  createdAt: Date | null;
  /** The snapshot's name; null for the agent's current state. */
  name: string | null;
}

/** New agents that start with another agent's current or earlier state: files, running programs, conversation. */
export class Forks {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * Creates `count` agents from one moment, each with a separate identity. Returns the first. Throws the errors of
   * creating an agent, `snapshot_not_found`, and `request_invalid` for settings that the source determines.
   */
  async create(viewer: Viewer, asked: AskedFork, attempt: Attempt): Promise<AgentState> {
    const { agents, stores, snapshots } = this.#context;
    const made = attempt.earlier === "none" ? null : await stores.forks.byId(attempt.resourceId);
    if (made) return made;
    const source = await agents.find(viewer, asked.from.agent, routes.createAgent);
    requireAllowed("chat", source);
    const owner = await agents.ownerFor(viewer);
    if (asked.from.snapshot !== undefined) {
      return snapshots.using(source, asked.from.snapshot, async (moment) => {
        await this.#requireForkable(viewer, source, asked, moment.runtime);
        return this.#make(owner, source, asked, moment, attempt);
      });
    }
    await this.#requireForkable(viewer, source, asked, source.runtime);
    return snapshots.takeFor(source, (id, { runtime, conversation, retold }) =>
      this.#make(owner, source, asked, { id, runtime, conversation, retold, name: null, createdAt: null }, attempt),
    );
  }

  /** Throws if the forks are not allowed, before anything is created. */
  async #requireForkable(viewer: Viewer, source: AgentState, asked: AskedFork, runtime: string): Promise<void> {
    const { agents, stores } = this.#context;
    const { accountId } = source;
    refuseOtherMachine(runtime, asked);
    refusePublic(source, asked);
    const [taken] = await stores.forks.byNames(accountId, namesOf(asked));
    if (taken) throw new BerthError("agent_exists", `There is already an agent ${taken.name}.`);
    await agents.requireCreatable(viewer, { ...settingsOf(source), ...asked, runtime });
  }

  /** Creates all forks or none. */
  async #make(
    owner: AgentOwner,
    source: AgentState,
    asked: AskedFork,
    { id: snapshot, runtime, conversation, retold, name, createdAt }: Moment,
    { resourceId }: Attempt,
  ): Promise<AgentState> {
    const { agents, stores, lifecycle } = this.#context;
    const { resources } = source;
    const settings = { ...settingsOf(source), ...asked, runtime };
    const forks = namesOf(asked).map((each, index) => ({
      ...agents.newAgent(idOf(resourceId, index), owner, { ...settings, name: each }),
      resources,
      conversation,
      retold,
      restores: 1,
      snapshot,
      forkedFrom: { agent: source.name, snapshot: name },
      privateSource: source.private ? { private: true, personId: source.personId } : null,
    }));
    const copied = { secrets: asked.from.secrets ?? false, until: createdAt };
    await lifecycle.begin(forks, () => stores.forks.insert(forks, source.id, copied));
    return forks[0]!;
  }
}

/** The names of the new agents: the requested name, or NAME-1, NAME-2, …. Throws `request_invalid`. */
function namesOf({ name, count }: CreateAgent): string[] {
  if (count === undefined) return [name];
  const names = Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
  const long = names.find((each) => !AgentName.safeParse(each).success);
  if (long === undefined) return names;
  throw new BerthError("request_invalid", `name: ${long} would have more than the 30 characters that are allowed.`);
}

/** The id of a request's agent, the same in each attempt. */
function idOf(resourceId: string, index: number): string {
  if (index === 0) return resourceId;
  return uuidOf(createHash("sha256").update(`${resourceId} ${index}`).digest("hex").slice(0, 32));
}

/** Otherwise others would see what only the maker may. */
function refusePublic(source: AgentState, asked: AskedFork): void {
  if (!source.private || asked.private !== false) return;
  const message = "private: a fork of a private agent is private; its maker can change it afterwards.";
  throw new BerthError("request_invalid", message);
}

/** A fork has its source's runtime and size: they are in its memory and its disk. */
function refuseOtherMachine(then: string, { runtime, resources }: AskedFork): void {
  if (runtime !== undefined && runtime !== then) {
    const message = `runtime: a fork has the runtime of its source, ${then}.`;
    throw new BerthError("request_invalid", message);
  }
  if (resources) throw new BerthError("request_invalid", "resources: a fork has the size of its source.");
}
