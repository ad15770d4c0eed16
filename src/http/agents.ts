import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { routes } from "../api/routes.ts";
import type { Agent } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import type { AgentState } from "../service/agent.ts";
import type { Agents } from "../service/agents.ts";
import type { Caller } from "../service/caller.ts";
import type { Forks } from "../service/forks.ts";
import { requireNamed } from "./authorize.ts";
import { handle } from "./handle.ts";
import { fromCursor, pageOf } from "./paging.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The request's agent, once it is known. */
    agent?: AgentState;
  }
}

/**
 * The caller's agent with this name. Throws `agent_not_found`, also for another account's agent, and `forbidden` if the
 * caller's key is not for this agent.
 */
export async function findAgent(
  agents: Pick<Agents, "find">,
  request: FastifyRequest,
  name: string,
): Promise<AgentState> {
  const agent = await agents.find(request.caller.accountId, name);
  request.agent = agent;
  requireNamed(request.caller, agent);
  if (request.ticket && request.ticket.agentId !== agent.id)
    throw new BerthError("forbidden", "This ticket is for another agent.");
  return agent;
}

/** `/agents`: create, read, change and delete agents. */
export function agentRoutes(agents: Agents, forks: Forks): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listAgents, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, /^[a-z][a-z0-9-]{2,29}$/);
      const { accountId, agentIds } = request.caller;
      const page = await agents.list(accountId, limit + 1, after, agentIds);
      return pageOf(
        page.map((agent) => viewFor(request.caller, agents.view(agent))),
        limit,
        ({ name }) => name,
      );
    });

    handle(app, routes.createAgent, async (request, reply) => {
      const { accountId } = request.caller;
      const { from } = request.body;
      const agent = from
        ? await forks.create(accountId, { ...request.body, from }, request.attempt)
        : await agents.create(accountId, request.body, request.attempt);
      request.agent = agent;
      reply.header("location", `/agents/${agent.name}`);
      return agents.view(request.query.wait ? await agents.settled(agent) : agent);
    });

    handle(app, routes.getAgent, async (request) =>
      viewFor(request.caller, agents.view(await findAgent(agents, request, request.params.name))),
    );

    handle(app, routes.changeAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const changed = await agents.change(agent, request.body);
      return agents.view(request.query.wait ? await agents.settled(changed) : changed);
    });

    handle(app, routes.resetConversation, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return agents.view(await agents.resetConversation(agent, request.attempt));
    });

    handle(app, routes.deleteAgent, async (request) => {
      await agents.delete(await findAgent(agents, request, request.params.name));
      return null;
    });
  };
}

/** The agent as the caller may see it. Settings, which may hold credentials, are not for external agent keys. */
function viewFor({ credential }: Caller, agent: Agent): Agent {
  return credential === "agent" ? { ...agent, instructions: null, mcpServers: {}, agents: [] } : agent;
}
