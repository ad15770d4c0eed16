import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { routes } from "../api/routes.ts";
import type { InstallStatus, LogEvent } from "../contract/agents.ts";
import { type AgentState, toAgentView } from "../service/agent.ts";
import type { Agents } from "../service/agents.ts";
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

/**
 * The caller's agent of that name. Throws `agent_not_found`, for another account's too, and `forbidden` for one that the
 * caller's key does not name.
 */
export async function findAgent(
  agents: Pick<Agents, "find">,
  request: FastifyRequest,
  name: string,
): Promise<AgentState> {
  const agent = await agents.find(request.caller.accountId, name);
  request.agent = agent;
  requireNamed(request.caller, agent);
  return agent;
}

export function agentRoutes(agents: Agents, streams: Streams): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listAgents, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, /^[a-z][a-z0-9-]{2,29}$/);
      const { accountId, agentIds } = request.caller;
      const page = await agents.list(accountId, limit + 1, after, agentIds);
      return pageOf(page.map(toAgentView), limit, ({ name }) => name);
    });

    handle(app, routes.createAgent, async (request, reply) => {
      const agent = await agents.create(request.caller.accountId, request.body, request.attempt);
      request.agent = agent;
      reply.header("location", `/agents/${agent.name}`);
      return toAgentView(request.query.wait ? await agents.settled(agent) : agent);
    });

    handle(app, routes.getAgent, async (request) => toAgentView(await findAgent(agents, request, request.params.name)));

    handle(app, routes.changeAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return toAgentView(await agents.change(agent, request.body));
    });

    handle(app, routes.restartAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const restarted = await agents.restart(agent, { newMachine: request.query.machine === "new" });
      return toAgentView(request.query.wait ? await agents.settled(restarted) : restarted);
    });

    handle(app, routes.suspendAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return toAgentView(await agents.suspend(agent));
    });

    handle(app, routes.resumeAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const resumed = await agents.resume(agent);
      return toAgentView(request.query.wait ? await agents.settled(resumed) : resumed);
    });

    handle(app, routes.getLog, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { tail, follow } = request.query;
      if (follow === "true") {
        using _ = streams.enter(request);
        await sendEvents(reply, {}, (gone) => logEvents(agents.log(agent, tail, true, gone)));
        return reply;
      }
      const lines: string[] = [];
      for await (const batch of agents.log(agent, tail, false, AbortSignal.timeout(waitMs))) lines.push(...batch);
      return { lines };
    });

    handle(app, routes.resetConversation, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return toAgentView(await agents.resetConversation(agent));
    });

    handle(app, routes.deleteAgent, async (request) => {
      await agents.delete(await findAgent(agents, request, request.params.name));
      return null;
    });

    handle(app, routes.getInstallStatus, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      if (!request.headers.accept?.includes("text/event-stream")) return toInstallStatus(agent);
      using _ = streams.enter(request);
      await sendEvents(reply, {}, (gone) => installEvents(agents.watchInstallation(agent, gone)));
      return reply;
    });
  };
}

async function* logEvents(batches: AsyncIterable<string[]>): AsyncGenerator<SseEvent[]> {
  const event = (data: LogEvent): SseEvent => ({ data });
  for await (const lines of batches) yield lines.map((line) => event({ line }));
  yield [event({ ended: true })];
}

/** The installation at each change. */
async function* installEvents(changes: AsyncIterable<InstallStatus>): AsyncGenerator<SseEvent[]> {
  for await (const data of changes) yield [{ data }];
}
