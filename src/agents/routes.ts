import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import { findAgent } from "./find.ts";

export function agentRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, forks } = context;
  return async (app) => {
    handle(app, routes.listAgents, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, /^[a-z][a-z0-9-]{2,29}$/);
      const page = await agents.list(request.caller, limit + 1, after, "oversee");
      return pageOf(
        page.map((agent) => agents.view(agent, request.caller)),
        limit,
        ({ name }) => name,
      );
    });

    handle(app, routes.createAgent, async (request, reply) => {
      const { caller } = request;
      const { from } = request.body;
      const agent = from
        ? await forks.create(caller, { ...request.body, from }, request.attempt)
        : await agents.create(caller, request.body, request.attempt);
      request.agent = agent;
      reply.header("location", `/agents/${agent.name}`);
      return agents.view(request.query.wait ? await agents.settled(agent) : agent, caller);
    });

    handle(app, routes.getAgent, async (request) =>
      agents.view(await findAgent(agents, request, request.params.name), request.caller),
    );

    handle(app, routes.changeAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const changed = await agents.change(request.caller, agent, request.body);
      return agents.view(request.query.wait ? await agents.settled(changed) : changed, request.caller);
    });

    handle(app, routes.resetConversation, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return agents.view(await agents.resetConversation(agent, request.attempt, request.caller), request.caller);
    });

    handle(app, routes.deleteAgent, async (request) => {
      await agents.delete(await findAgent(agents, request, request.params.name));
      return null;
    });
  };
}
