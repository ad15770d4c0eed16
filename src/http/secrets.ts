import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { AgentParams } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { SecretList, SecretParams, SecretRecord, SetSecret } from "../contract/secrets.ts";
import { requireAllowed } from "../service/agent.ts";
import type { Agents } from "../service/agents.ts";
import { type Secrets, toSecretView } from "../service/secrets.ts";
import { findAgent } from "./agents.ts";

/** `/agents/{name}/secrets`: what an agent's programs use and never see. */
export function secretRoutes(agents: Agents, secrets: Secrets): FastifyPluginAsyncZod {
  return async (app) => {
    const listSchema = {
      summary: "List an agent's secrets, without their values",
      params: AgentParams,
      response: { 200: SecretList },
    };
    app.get("/agents/:name/secrets", { schema: listSchema }, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: (await secrets.list(agent.id)).map(toSecretView), nextCursor: null };
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
      const agent = await findAgent(agents, request, request.params.name);
      requireAllowed("change", agent);
      const { secret, made } = await secrets.set(agent.id, request.params.secret, request.body);
      return reply.code(made ? 201 : 200).send(toSecretView(secret));
    });

    const removeSchema = { summary: "Remove an agent's secret", params: SecretParams, response: { 204: z.null() } };
    app.delete("/agents/:name/secrets/:secret", { schema: removeSchema }, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      const removed = await secrets.remove(agent.id, request.params.secret);
      if (!removed) throw new BerthError("secret_not_found", `The agent has no secret ${request.params.secret}.`);
      return reply.code(204).send(null);
    });
  };
}
