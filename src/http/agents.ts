import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { routes } from "../api/routes.ts";
import { AgentName, type CreateAgent, type LogEvent, type Resources } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { type AgentState, requireAllowed, toAgentView } from "../service/agents.ts";
import { toInstallStatus } from "../service/lifecycle/provisioning.ts";
import { requireNamed } from "./authorize.ts";
import { handle } from "./handle.ts";
import { fromCursor, pageOf } from "./paging.ts";
import { type SseEvent, sendEvents } from "./sse.ts";
import type { Streams } from "./streams.ts";

const waitMs = 60_000;

declare module "fastify" {
  interface FastifyRequest {
    /** The agent that it is about, once that is known. */
    agent?: AgentState;
  }
}

/** What the agents' routes need. */
export interface AgentService {
  /** Throws `agent_exists`, `insufficient_credits`, `no_capacity`. */
  create(agent: AgentState): Promise<void>;
  /** Throws what is missing for any agent to be made: `image_missing`, `qemu_missing`, …. */
  requireMachines(): Promise<void>;
  /** The runtimes that agents can be built on in this installation. */
  runtimes: readonly string[];
  /** The size of a machine of the runtime where nothing else is asked. */
  usualResources(runtime: string): Resources;
  /**
   * Throws `model_not_available` when the runtime cannot use the model, or for null, when it has none by default.
   */
  checkModel(model: string | null, runtime: string): Promise<void>;
  /** Sets what its owner may change. Answers the agent as it is then; null when it is gone or being deleted. */
  configure(id: string, settings: Partial<Pick<AgentState, "model" | "instructions">>): Promise<AgentState | null>;
  /** Throws `turn_in_progress`. */
  resetConversation(agent: AgentState): Promise<AgentState>;
  /**
   * Ends a running turn. Answers the agent while it is started again; null when it is gone or being deleted. Throws
   * `insufficient_credits`.
   */
  restart(agent: AgentState): Promise<AgentState | null>;
  /** Answers the agent when it is suspended or was needed again. Throws `turn_in_progress`, `machine_failed`. */
  suspend(agent: AgentState): Promise<AgentState | null>;
  /** Begins to wake it. Answers null when it is gone. Throws `insufficient_credits`, `no_capacity`. */
  resume(agent: AgentState): Promise<AgentState | null>;
  /**
   * The last `tail` lines of its runner's and runtime's output, and with `follow` what comes, until `gone` is aborted
   * or its machine ends.
   */
  log(agent: AgentState, tail: number, follow: boolean, gone: AbortSignal): AsyncIterable<string[]>;
  byName(accountId: string, name: string): Promise<AgentState | null>;
  byId(id: string): Promise<AgentState | null>;
  /** With `ids`: of those only. */
  list(accountId: string, limit: number, after: string | null, ids: readonly string[] | null): Promise<AgentState[]>;
  watch(id: string, signal: AbortSignal): AsyncIterable<AgentState>;
  delete(agent: AgentState): Promise<void>;
}

/**
 * The caller's agent of that name. Throws `agent_not_found`, for another account's too, and `forbidden` for one that the
 * caller's key does not name.
 */
export async function findAgent(
  service: Pick<AgentService, "byName">,
  request: FastifyRequest,
  name: string,
): Promise<AgentState> {
  const possible = AgentName.safeParse(name).success;
  const agent = possible ? await service.byName(request.caller.accountId, name) : null;
  // What cannot be a name may be anything, a key that was mistaken for one too, and is not repeated.
  if (!agent) throw new BerthError("agent_not_found", `There is no agent ${possible ? name : "of this name"}.`);
  request.agent = agent;
  requireNamed(request.caller, agent);
  return agent;
}

export function agentRoutes(service: AgentService, streams: Streams): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listAgents, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, /^[a-z][a-z0-9-]{2,29}$/);
      const { accountId, agentIds } = request.caller;
      const agents = await service.list(accountId, limit + 1, after, agentIds);
      return pageOf(agents.map(toAgentView), limit, ({ name }) => name);
    });

    handle(app, routes.createAgent, async (request, reply) => {
      const { resourceId, earlier } = request.attempt;
      const made = earlier === "none" ? null : await service.byId(resourceId);
      const agent = made ?? (await createAgent(service, resourceId, request.caller.accountId, request.body));
      request.agent = agent;
      reply.header("location", `/agents/${agent.name}`);
      return toAgentView(request.query.wait ? await settled(service, agent) : agent);
    });

    handle(app, routes.getAgent, async (request) =>
      toAgentView(await findAgent(service, request, request.params.name)),
    );

    handle(app, routes.changeAgent, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      requireAllowed("change", agent);
      const { model, instructions } = request.body;
      if (model !== undefined) await service.checkModel(model, agent.runtime);
      const changed = await service.configure(agent.id, {
        ...(model === undefined ? {} : { model }),
        ...(instructions === undefined ? {} : { instructions: instructions || null }),
      });
      return toAgentView(changed ?? deleting(agent));
    });

    handle(app, routes.restartAgent, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      requireAllowed("restart", agent);
      await service.requireMachines();
      const restarted = (await service.restart(agent)) ?? deleting(agent);
      return toAgentView(request.query.wait ? await settled(service, restarted) : restarted);
    });

    handle(app, routes.suspendAgent, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      requireAllowed("suspend", agent);
      return toAgentView((await service.suspend(agent)) ?? deleting(agent));
    });

    handle(app, routes.resumeAgent, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      requireAllowed("resume", agent);
      const resumed = (await service.resume(agent)) ?? deleting(agent);
      return toAgentView(request.query.wait ? await settled(service, resumed) : resumed);
    });

    handle(app, routes.getLog, async (request, reply) => {
      const agent = await findAgent(service, request, request.params.name);
      const { tail, follow } = request.query;
      if (follow === "true") {
        using _ = streams.enter(request);
        await sendEvents(reply, {}, (gone) => logEvents(service.log(agent, tail, true, gone)));
        return reply;
      }
      const lines: string[] = [];
      for await (const batch of service.log(agent, tail, false, AbortSignal.timeout(waitMs))) lines.push(...batch);
      return { lines };
    });

    handle(app, routes.resetConversation, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      requireAllowed("change", agent);
      return toAgentView(await service.resetConversation(agent));
    });

    handle(app, routes.deleteAgent, async (request) => {
      await service.delete(await findAgent(service, request, request.params.name));
      return null;
    });

    handle(app, routes.getInstallStatus, async (request, reply) => {
      const agent = await findAgent(service, request, request.params.name);
      if (!request.headers.accept?.includes("text/event-stream")) return toInstallStatus(agent);
      using _ = streams.enter(request);
      await sendEvents(reply, {}, (gone) => installEvents(service, agent.id, gone));
      return reply;
    });
  };
}

async function createAgent(
  service: AgentService,
  id: string,
  accountId: string,
  body: CreateAgent,
): Promise<AgentState> {
  if (!service.runtimes.includes(body.runtime)) {
    throw new BerthError(
      "runtime_not_available",
      `There is no runtime ${body.runtime}. Available: ${service.runtimes.join(", ")}.`,
      { details: { available: service.runtimes } },
    );
  }
  await service.checkModel(body.model ?? null, body.runtime);
  const now = new Date();
  const agent: AgentState = {
    id,
    accountId,
    name: body.name,
    runtime: body.runtime,
    model: body.model ?? null,
    instructions: body.instructions || null,
    conversation: 1,
    resources: { ...service.usualResources(body.runtime), ...given(body.resources) },
    desired: "running",
    status: "provisioning",
    generation: 1,
    restarts: 0,
    error: null,
    installSteps: [],
    createdAt: now,
    lastActiveAt: now,
  };
  await service.requireMachines();
  await service.create(agent);
  return agent;
}

async function* logEvents(batches: AsyncIterable<string[]>): AsyncGenerator<SseEvent[]> {
  const event = (data: LogEvent): SseEvent => ({ data });
  for await (const lines of batches) yield lines.map((line) => event({ line }));
  yield [event({ ended: true })];
}

/** The agent once nothing is being done to have it run, or as it stands after a minute. */
async function settled(service: AgentService, agent: AgentState): Promise<AgentState> {
  let latest = agent;
  for await (const seen of service.watch(agent.id, AbortSignal.timeout(waitMs))) {
    latest = seen;
    if (seen.status !== "provisioning" && (seen.status !== "suspended" || seen.desired !== "running")) break;
  }
  return latest;
}

/** The installation at each change; ends with it. */
async function* installEvents(service: AgentService, id: string, gone: AbortSignal): AsyncGenerator<SseEvent[]> {
  for await (const agent of service.watch(id, gone)) {
    const status = toInstallStatus(agent);
    yield [{ data: status }];
    if (status.status === "installed" || status.status === "failed" || agent.status === "deleting") return;
  }
}

/** What was asked for, without what was left out. */
function given(asked: CreateAgent["resources"] = {}): Partial<Resources> {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

/** Throws what a request is answered that came too late. */
function deleting({ name }: AgentState): never {
  throw new BerthError("agent_deleting", `The agent ${name} is being deleted.`);
}
