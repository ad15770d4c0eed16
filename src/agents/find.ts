import type { FastifyRequest } from "fastify";
import { BerthError } from "../contract/errors.ts";
import { requireNamed } from "../core/http/authorize.ts";
import type { AgentState } from "./agent.ts";
import type { Agents } from "./agents.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The agent that the request is about, for its audit entry. `id`: null if the agent was deleted. */
    agent?: { id: string | null; name: string };
    /** The ids of the agents that the request uses, checked while it is open. */
    agentIds?: Set<string>;
  }
}

/**
 * The caller's agent with this name, for the request's route. Throws the errors of `Agents.find`, and `forbidden` if the
 * caller's key is not for this agent.
 */
export async function findAgent(
  agents: Pick<Agents, "find">,
  request: FastifyRequest,
  name: string,
): Promise<AgentState> {
  const { route } = request.routeOptions.config;
  const agent = await agents.find(request.caller, name, route!);
  request.agent = agent;
  holdAgent(request, agent);
  requireNamed(request.caller, agent);
  if (request.ticket && request.ticket.agentId !== agent.id)
    throw new BerthError("forbidden", "This ticket is for another agent.");
  return agent;
}

/** Notes that the request is about the agent, also by an operation within it. */
export function holdAgent(request: FastifyRequest, { id }: AgentState): void {
  request.agentIds = (request.agentIds ?? new Set()).add(id);
}
