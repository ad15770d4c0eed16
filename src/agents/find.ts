import type { FastifyRequest } from "fastify";
import { BerthError } from "../contract/errors.ts";
import { requireNamed } from "../core/http/authorize.ts";
import type { AgentState } from "./agent.ts";
import type { Agents } from "./agents.ts";

declare module "fastify" {
  interface FastifyRequest {
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
