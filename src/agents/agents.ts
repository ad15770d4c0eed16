import type { AppContext } from "../context.ts";
import type { AcpProgram } from "../contract/acp-program.ts";
import {
  type Agent,
  AgentName,
  type AgentSettings,
  type ChangeAgent,
  type CreateAgent,
  givenSettings,
  type InstallStatus,
  type Resources,
  usualSettings,
} from "../contract/agents.ts";
import type { Effort } from "../contract/effort.ts";
import { BerthError } from "../contract/errors.ts";
import { type Permissions, restrictedKind } from "../contract/permissions.ts";
import type { Route } from "../contract/route.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import { accessTo, type ListedAccess, type Viewer } from "../core/http/access.ts";
import { type Attempt, retriedAs } from "../core/http/attempt.ts";
import type { Caller } from "../core/http/caller.ts";
import { pendingSteps, toInstallStatus } from "../lifecycle/provisioning.ts";
import { resourcesOf } from "../runtimes/runtime.ts";
import { type AgentState, requireAllowed, toAgentView } from "./agent.ts";
import {
  privateError,
  requireMaker,
  requireOwn,
  requirePublic,
  type ViewingCaller,
  viewFor,
} from "./private-agents.ts";

/** Limit on an agent's settings in bytes of JSON: every look-up of the agent reads them. */
const maximumSettings = 256 * 1024;

/** How long a caller waits for an agent to settle. */
const settleMs = 60_000;

/** The account and the maker of a new agent. */
export type AgentOwner = Pick<AgentState, "accountId" | "personId" | "personName">;

export class Agents {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The agent as the caller may see it. */
  view(agent: AgentState, caller: ViewingCaller): Agent {
    const { slots, machines } = this.#context;
    const queuePosition = slots.positionOf(agent.id);
    return viewFor(
      caller,
      agent,
      toAgentView(agent, { queuePosition, newestImage: machines.newestImageOf(agent.runtime) }),
    );
  }

  /**
   * The caller's agents by name, after the name `after`. `least`: the access that the caller must have to each; private
   * agents of others are left out for those who have less.
   */
  list(
    caller: Viewer & Pick<Caller, "agentIds">,
    limit: number,
    after: string | null,
    least: ListedAccess = "all",
  ): Promise<AgentState[]> {
    return this.#context.stores.agents.list(caller, limit, after, least);
  }

  /**
   * The agent of this name, for an operation on it. Throws `agent_not_found`, also for another account's agent and another
   * person's private one, and `agent_private` for owners and admins if the operation is not open to them.
   */
  async find(viewer: Viewer, name: string, { oversees }: Route): Promise<AgentState> {
    const possible = AgentName.safeParse(name).success;
    const agent = possible ? await this.#context.stores.agents.byName(viewer.accountId, name) : null;
    const access = agent ? accessTo(agent, viewer) : "none";
    // An invalid name is not repeated: it may be a secret, such as a key pasted by mistake.
    if (!agent || access === "none")
      throw new BerthError("agent_not_found", `There is no agent ${possible ? name : "with this name"}.`);
    if (access === "oversee" && !oversees) throw privateError(agent);
    return agent;
  }

  /**
   * Creates an agent and begins provisioning its machine, or returns the agent of an earlier attempt. Throws
   * `runtime_not_available`, `model_not_available`, `agent_not_found` (one that it may call), `insufficient_credits`,
   * `disk_full`, `agent_exists`, `no_capacity`, and the errors of `requireReady`.
   */
  async create(viewer: Viewer, asked: CreateAgent, attempt: Attempt): Promise<AgentState> {
    const { accountId } = viewer;
    const { resourceId, earlier } = attempt;
    const { stores, lifecycle, spares } = this.#context;
    const made = earlier === "none" ? null : await stores.agents.byId(resourceId);
    if (made) return made;
    await this.requireCreatable(viewer, asked);
    const agent = this.newAgent(resourceId, await this.ownerFor(viewer), asked);
    // A name that is in use is refused below, and must not cost a spare.
    const mayTake = earlier === "none" && !(await stores.agents.byName(accountId, asked.name));
    const spare = mayTake ? await spares.take(agent.runtime, agent.resources) : null;
    if (spare === null) await lifecycle.create(agent);
    else await this.#adopt(spare, agent, attempt);
    return agent;
  }

  /** Throws the errors of `create` before it changes anything. */
  async requireCreatable(viewer: Viewer, asked: CreateAgent): Promise<void> {
    const { runtime = this.#defaultRuntime } = asked;
    const { accountId, personId } = viewer;
    requireSmall(asked);
    if (asked.private) requireMaker(personId);
    await this.#context.stores.agents.requireFew(accountId, asked.count ?? 1);
    await this.#requireRunnable(accountId, runtime);
    this.#requireProgram(asked.acp ?? null, runtime);
    this.#requireEnforced(asked.permissions, runtime);
    this.requireEffort(asked.effort ?? null, runtime);
    await this.#requireModels([asked.model ?? null, ...(asked.fallbackModels ?? [])], runtime, {
      accountId,
      personId,
      private: asked.private ?? false,
    });
    await this.#requireOthers(viewer, asked, asked.agents);
  }

  async #requireRunnable(accountId: string, runtime: string): Promise<void> {
    const { machines, ledger, reserve } = this.#context;
    this.#requireOffered(runtime);
    await machines.requireReady();
    this.#requireOffered(runtime);
    await ledger.requireCredits(accountId, null);
    await reserve.require();
  }

  /** Which runtimes the image has is known once the machines are ready. */
  #requireOffered(runtime: string): void {
    const { runtimes, models } = this.#context;
    const available = models.offered.map(({ name }) => name);
    if (available.includes(runtime)) return;
    const exists = runtimes.some(({ name }) => name === runtime);
    const wrong = exists ? `This installation does not offer ${runtime}` : `There is no runtime ${runtime}`;
    throw new BerthError("runtime_not_available", `${wrong}. Available: ${available.join(", ") || "none"}.`, {
      details: { available },
    });
  }

  get #defaultRuntime(): string {
    return this.#context.offeredRuntimes[0]!.name;
  }

  /** Throws `request_invalid` if the runtime has no program and needs one, or the other way round. */
  #requireProgram(program: AcpProgram | null, runtime: string): void {
    const needs = this.#context.runtimes.find(({ name }) => name === runtime)?.needsProgram ?? false;
    if (needs && program === null)
      throw new BerthError("request_invalid", `acp: the runtime ${runtime} needs a \`command\`, the program to start.`);
    if (!needs && program !== null)
      throw new BerthError(
        "request_invalid",
        `acp: only the runtime acp has a program of its own, and this is ${runtime}.`,
      );
  }

  /** Throws `model_not_available` for the first that the runtime cannot use. */
  async #requireModels(
    models: readonly (string | null)[],
    runtime: string,
    { accountId, personId, private: isPrivate }: Pick<AgentState, "accountId" | "personId" | "private">,
  ): Promise<void> {
    for (const model of models) {
      await this.#context.models.modelOf({ model, runtime, accountId, personId, private: isPrivate });
    }
  }

  /** Throws `permissions_not_supported` for a runtime that would use the tools all the same. */
  #requireEnforced(permissions: Permissions | undefined, runtime: string): void {
    const kind = permissions ? restrictedKind(permissions) : null;
    const ability = this.#context.runtimes.find(({ name }) => name === runtime)?.abilities.permissions ?? true;
    if (kind === null || ability === true || ability.supported) return;
    throw new BerthError(
      "permissions_not_supported",
      `permissions: ${runtime} cannot ask for or deny \`${kind}\`; only \`allow\` is possible. ${ability.reason}`,
      { details: { kind, runtime } },
    );
  }

  /** Throws `request_invalid` for an effort on a runtime that cannot choose one. */
  requireEffort(effort: Effort | null, runtime: string): void {
    if (effort === null || this.takesEffort(runtime)) return;
    throw new BerthError("request_invalid", `effort: ${runtime} has no setting for it. Leave it out.`);
  }

  takesEffort(runtime: string): boolean {
    const ability = this.#context.runtimes.find(({ name }) => name === runtime)?.abilities.effort ?? true;
    return ability === true || ability.supported;
  }

  async #adopt(spare: string, agent: AgentState, { moveTo }: Attempt): Promise<void> {
    const { lifecycle, spares } = this.#context;
    try {
      await moveTo?.(spare);
      agent.id = spare;
      agent.installSteps = pendingSteps(["runtime"]);
      await lifecycle.create(agent);
    } catch (error) {
      // Its id may belong to a later attempt now, so no other agent may get it. Nothing waits for the removal.
      void spares.remove(spare);
      throw error;
    }
  }

  /**
   * Changes the agent's settings from its next turn on, or switches to another runtime with its files and conversation.
   * Throws `model_not_available`, `agent_not_found` (one that it may call), `agent_deleting`; for a runtime also
   * `turn_in_progress` and the errors that `create` throws before it changes anything.
   */
  async change(viewer: Viewer, agent: AgentState, asked: ChangeAgent): Promise<AgentState> {
    requireAllowed("change", agent);
    if (asked.private !== undefined && asked.private !== agent.private) requireOwn(agent, viewer);
    const { runtime = agent.runtime, model, agents } = asked;
    const isOther = runtime !== agent.runtime;
    if (isOther) await this.#requireRunnable(agent.accountId, runtime);
    const program = asked.acp ?? (isOther || asked.acp === null ? null : agent.acp);
    this.#requireProgram(program, runtime);
    // Others may use it from now on, and its maker's subscription is not for them.
    const isAny = isOther || (asked.private === false && agent.private);
    const { fallbackModels = isAny ? agent.fallbackModels : [] } = asked;
    const own = isAny || model !== undefined ? [model === undefined ? agent.model : model] : [];
    const { private: isPrivate = agent.private } = asked;
    await this.#requireModels([...own, ...fallbackModels], runtime, { ...agent, private: isPrivate });
    this.#requireEnforced(asked.permissions ?? agent.permissions, runtime);
    this.requireEffort(asked.effort === undefined ? agent.effort : asked.effort, runtime);
    await this.#requireOthers(viewer, { ...agent, ...asked }, agents);
    if (asked.private === false) await this.#requirePublic(agents ?? agent.agents, agent.accountId);
    requireSmall({ ...agent, ...asked });
    const settings = givenSettings(isOther ? { ...asked, acp: program } : asked);
    if (isOther) return this.#changeRuntime(runtime, agent, settings);
    if (Object.keys(settings).length === 0) return agent;
    return (await this.#context.stores.agents.configure(agent.id, settings)) ?? deleting(agent);
  }

  /** The machine boots with the runtime, and gets at least the memory that the runtime needs. */
  async #changeRuntime(runtime: string, agent: AgentState, settings: Partial<AgentSettings>): Promise<AgentState> {
    const { lifecycle, turns, runtimes } = this.#context;
    const { resources } = agent;
    const memoryMiB = Math.max(resources.memoryMiB, resourcesOf(runtimes, runtime).memoryMiB);
    const changed = await lifecycle.changeRuntime(agent.id, {
      runtime,
      resources: { ...resources, memoryMiB },
      settings,
    });
    return changed ?? turns.refuseAnother(agent.id);
  }

  /** Creates an empty conversation and makes it current. Throws `turn_in_progress`. */
  async resetConversation(agent: AgentState, attempt: Attempt, by: AuthorIds): Promise<AgentState> {
    requireAllowed("change", agent);
    const { stores, leases, lifecycle, turns, log } = this.#context;
    if (await lifecycle.hasBegun(agent.id, attempt)) return agent;
    const reset =
      (await stores.lifecycle.beginConversation(agent.id, by, retriedAs(attempt))) ?? turns.refuseAnother(agent.id);
    // Cleared now if the machine is running; if this fails, the next message does it.
    if (reset.status === "ready") {
      const { id, conversation } = reset;
      void leases
        .ifRunning(id)
        .then((guest) => guest?.enterConversation({ conversation }))
        .catch((error: unknown) => log("a conversation could not be entered at once", { agentId: id, error }));
    }
    return reset;
  }

  /** Suspends the agent. Returns once it is suspended or needed again. Throws `turn_in_progress`. */
  async suspend(agent: AgentState): Promise<AgentState> {
    requireAllowed("suspend", agent);
    const { lifecycle, turns } = this.#context;
    return (await lifecycle.suspend(agent.id)) ?? turns.refuseAnother(agent.id);
  }

  /** Starts to wake the agent, or to retry a failed one. Throws `insufficient_credits`, `no_capacity`. */
  async resume(agent: AgentState): Promise<AgentState> {
    requireAllowed("resume", agent);
    await this.#context.ledger.requireCredits(agent.accountId, null);
    return (await this.#context.lifecycle.resume(agent)) ?? deleting(agent);
  }

  /**
   * Ends a running turn and reboots the agent from its disk. `newMachine`: replace a lost machine with an empty one.
   * Throws `insufficient_credits`, and the errors of `requireReady`.
   */
  async restart(agent: AgentState, newMachine: boolean, attempt: Attempt): Promise<AgentState> {
    requireAllowed("restart", agent);
    const { machines, lifecycle, turns, ledger } = this.#context;
    if (await lifecycle.hasBegun(agent.id, attempt)) return agent;
    await machines.requireReady();
    await ledger.requireCredits(agent.accountId, null);
    await turns.failRunning(agent.id, "agent_restarted", "The agent was restarted.");
    return (await lifecycle.restart(agent.id, newMachine, retriedAs(attempt))) ?? deleting(agent);
  }

  /** Removes the agent and all data of its machine. Throws `agent_deleting` if that takes longer than a minute. */
  async delete(agent: AgentState): Promise<void> {
    requireAllowed("delete", agent);
    await this.#context.turns.failRunning(agent.id, "agent_deleted", "The agent was deleted.");
    await this.#context.lifecycle.delete(agent.id);
  }

  /** The agent once it is neither starting nor waking, or its state after a minute. */
  async settled(agent: AgentState): Promise<AgentState> {
    let latest = agent;
    for await (const seen of this.#context.lifecycle.watch(agent.id, AbortSignal.timeout(settleMs))) {
      latest = seen;
      if (seen.status !== "provisioning" && (seen.status !== "suspended" || seen.desired !== "running")) break;
    }
    return latest;
  }

  /** The state of the agent's installation, now and at each change until it is finished. */
  async *watchInstallation({ id }: AgentState, gone: AbortSignal): AsyncGenerator<InstallStatus> {
    for await (const agent of this.#context.lifecycle.watch(id, gone)) {
      const status = toInstallStatus(agent);
      yield status;
      if (status.status === "installed" || status.status === "failed" || agent.status === "deleting") return;
    }
  }

  /**
   * The last `tail` log lines of the agent's runner and runtime and, with `follow`, new ones until `gone` is aborted or
   * the machine stops. The agent is not idle while its log is being read.
   */
  async *log(agent: AgentState, tail: number, follow: boolean, gone: AbortSignal): AsyncGenerator<string[]> {
    requireAllowed("log", agent);
    using _ = this.#context.idleness.keepOpen(agent.id);
    yield* this.#context.machines.log(agent.id, tail, follow, gone);
  }

  /** Checks the agents that one may call. Its transcript shows their replies, so a private one is called by private ones. */
  async #requireOthers(viewer: Viewer, agent: Pick<CreateAgent, "name" | "private">, asked: string[] = []) {
    const { name } = agent;
    if (asked.includes(name)) throw new BerthError("request_invalid", `An agent cannot call itself (${name}).`);
    const found = asked.length === 0 ? [] : await this.#context.stores.agents.byNames(viewer.accountId, asked);
    const own = found.filter((each) => accessTo(each, viewer) === "all");
    const missing = asked.filter((each) => !own.some((other) => other.name === each));
    if (missing.length > 0) throw new BerthError("agent_not_found", `There is no agent ${missing.join(", ")}.`);
    if (!agent.private) requirePublic(own);
  }

  /** As for the agents that an agent which is not private names. */
  async #requirePublic(names: string[], accountId: string): Promise<void> {
    requirePublic(await this.#context.stores.agents.byNames(accountId, names));
  }

  /** The account and the maker of an agent that the caller creates. */
  async ownerFor({ accountId, personId }: Viewer): Promise<AgentOwner> {
    const personName = personId === null ? null : await this.#context.stores.people.nameOf(personId);
    return { accountId, personId, personName };
  }

  newAgent(id: string, owner: AgentOwner, asked: CreateAgent): AgentState {
    const now = new Date();
    const { runtime = this.#defaultRuntime } = asked;
    return {
      id,
      ...owner,
      name: asked.name,
      runtime,
      ...usualSettings,
      ...givenSettings(asked),
      conversation: 1,
      retold: null,
      queueLength: 0,
      queueHeld: null,
      resources: { ...resourcesOf(this.#context.runtimes, runtime), ...given(asked.resources) },
      image: null,
      isHere: true,
      hasMachine: false,
      desired: "running",
      status: "provisioning",
      generation: 1,
      restarts: 0,
      restores: 0,
      snapshot: null,
      forkedFrom: null,
      privateSource: null,
      imported: null,
      isImporting: false,
      error: null,
      installSteps: [],
      createdAt: now,
      lastActiveAt: now,
    };
  }
}

function given(asked: CreateAgent["resources"] = {}): Partial<Resources> {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

function deleting({ name }: AgentState): never {
  throw new BerthError("agent_deleting", `The agent ${name} is being deleted.`);
}

function requireSmall({
  instructions,
  acp,
  mcpServers,
}: Pick<ChangeAgent, "instructions" | "acp" | "mcpServers">): void {
  if (Buffer.byteLength(JSON.stringify({ instructions, acp, mcpServers })) <= maximumSettings) return;
  const message = `instructions, acp and mcpServers together are limited to ${maximumSettings / 1024} KiB of JSON.`;
  throw new BerthError("request_invalid", message);
}
