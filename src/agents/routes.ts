import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import type { Agent } from "../contract/agents.ts";
import { routes } from "../contract/routes.ts";
import { allows } from "../contract/workspaces.ts";
import type { Caller } from "../core/http/caller.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import { findAgent } from "./find.ts";

export function agentRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, forks } = context;
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

/**
 * The agent as the caller may see it. Settings, which may contain credentials, are hidden from external agent keys. MCP
 * servers, which name secrets, are hidden from viewers.
 */
function viewFor({ credential, role }: Caller, agent: Agent): Agent {
  if (credential === "agent") return { ...agent, instructions: null, mcpServers: {}, agents: [] };
  return allows(role, "use") ? agent : { ...agent, mcpServers: {} };
}
