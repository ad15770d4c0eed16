import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import { BerthError } from "../contract/errors.ts";
import type { SetSecret } from "../contract/secrets.ts";
import { type AgentState, requireAllowed } from "../service/agents.ts";
import { type SecretState, toSecretView } from "../service/secrets.ts";
import { type AgentService, findAgent } from "./agents.ts";
import { handle } from "./handle.ts";

/** What the routes of an agent's secrets need. */
export interface SecretService extends Pick<AgentService, "byName"> {
  listSecrets(agent: AgentState): Promise<SecretState[]>;
  /** Makes one or changes it. `made`: there was none of that name. */
  setSecret(agent: AgentState, name: string, secret: SetSecret): Promise<{ secret: SecretState; made: boolean }>;
  /** False when the agent has no such secret. */
  removeSecret(agent: AgentState, name: string): Promise<boolean>;
}

/** `/agents/{name}/secrets`: what an agent's programs use and never see. */
export function secretRoutes(service: SecretService): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listSecrets, async (request) => {
      const secrets = await service.listSecrets(await findAgent(service, request, request.params.name));
      return { data: secrets.map(toSecretView), nextCursor: null };
    });

    handle(app, routes.setSecret, async (request, reply) => {
      const agent = await findAgent(service, request, request.params.name);
      requireAllowed("change", agent);
      const { secret, made } = await service.setSecret(agent, request.params.secret, request.body);
      return reply.code(made ? 201 : 200).send(toSecretView(secret));
    });

    handle(app, routes.removeSecret, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      const removed = await service.removeSecret(agent, request.params.secret);
      if (!removed) throw new BerthError("secret_not_found", `The agent has no secret ${request.params.secret}.`);
      return null;
    });
  };
}
