import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AgentParams } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { SecretList, SecretParams, SecretRecord, SetSecret } from "../contract/secrets.ts";
import { type AgentState, requireAllowed } from "../service/agents.ts";
import { type SecretState, toSecretView } from "../service/secrets.ts";
import { type AgentService, findAgent } from "./agents.ts";

/** What the routes of an agent's secrets need. */
export interface SecretService extends Pick<AgentService, "byName"> {
  listSecrets(agent: AgentState): Promise<SecretState[]>;
  /** Makes one or changes it. `made`: there was none of that name. */
  setSecret(agent: AgentState, name: string, secret: SetSecret): Promise<{ secret: SecretState; made: boolean }>;
  /** False when the agent has no such secret. */
  removeSecret(agent: AgentState, name: string): Promise<boolean>;
}

/** `/agents/{name}/secrets`: what an agent's programs use and never see. */
export function secretRoutes(service: SecretService): FastifyPluginAsyncZod {
  return async (app) => {
    const listSchema = {
      summary: "List an agent's secrets, without their values",
      params: AgentParams,
      response: { 200: SecretList },
    };
    app.get("/agents/:name/secrets", { schema: listSchema }, async (request) => {
      const secrets = await service.listSecrets(await findAgent(service, request, request.params.name));
      return { data: secrets.map(toSecretView), nextCursor: null };
    });

    const setSchema = {
      summary: "Give an agent a secret, or another value",
      description:
        "In the machine the variable of this name holds a placeholder. Where a program sends it in a header to one of the hosts, the value goes in its place.",
      params: SecretParams,
      body: SetSecret,
      response: { 200: SecretRecord, 201: SecretRecord },
    };
    app.put("/agents/:name/secrets/:secret", { schema: setSchema }, async (request, reply) => {
      const agent = await findAgent(service, request, request.params.name);
      requireAllowed("change", agent);
      const { secret, made } = await service.setSecret(agent, request.params.secret, request.body);
      return reply.code(made ? 201 : 200).send(toSecretView(secret));
    });

    const removeSchema = { summary: "Remove an agent's secret", params: SecretParams, response: { 204: z.null() } };
    app.delete("/agents/:name/secrets/:secret", { schema: removeSchema }, async (request, reply) => {
      const agent = await findAgent(service, request, request.params.name);
      const removed = await service.removeSecret(agent, request.params.secret);
      if (!removed) throw new BerthError("secret_not_found", `The agent has no secret ${request.params.secret}.`);
      return reply.code(204).send(null);
    });
  };
}
