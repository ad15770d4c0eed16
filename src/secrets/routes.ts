import type { FastifyPluginAsync } from "fastify";
import { requireAllowed } from "../agents/agent.ts";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { toSecretView } from "./secrets.ts";

/** `/agents/{name}/secrets`: secrets that an agent's programs use but never see. */
export function secretRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, secrets } = context;
  return async (app) => {
    handle(app, routes.listSecrets, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: (await secrets.list(agent.id)).map(toSecretView), nextCursor: null };
    });

    handle(app, routes.setSecret, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      requireAllowed("change", agent);
      const { secret, made } = await secrets.set(agent.id, request.params.secret, request.body, request.caller);
      return reply.code(made ? 201 : 200).send(toSecretView({ ...secret, from: "agent" }));
    });

    handle(app, routes.removeSecret, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      await secrets.remove(agent.id, request.params.secret);
      return null;
    });
  };
}
