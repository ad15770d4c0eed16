import { randomUUID } from "node:crypto";
import type { z } from "zod";
import type { AgentState } from "../../agents/agent.ts";
import type { Agents } from "../../agents/agents.ts";
import { AgentPage, AgentSummary, CreateAgentArguments, ListAgentsArguments } from "../../contract/mcp.ts";
import { routes } from "../../contract/routes.ts";
import { fromCursor, pageOf } from "../../core/http/paging.ts";
import { type Tool, tool } from "./tool.ts";

const pageSize = 50;

/** Tools that find and create agents. */
export function agentTools(agents: Agents): Tool[] {
  const list = tool({
    name: "list_agents",
    title: "List agents",
    description: "Lists the agents that this connection may use, with their status.",
    route: routes.listAgents,
    input: ListAgentsArguments,
    output: AgentPage,
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async ({ cursor }, { caller }) => {
      const after = fromCursor(cursor, /^[a-z][a-z0-9-]{2,29}$/);
      const found = await agents.list(caller, pageSize + 1, after);
      const { data, nextCursor } = pageOf(found.map(toSummary), pageSize, ({ name }) => name);
      return { result: { agents: data, nextCursor } };
    },
  });
  const create = tool({
    name: "create_agent",
    title: "Create an agent",
    description:
      "Creates an agent with its own virtual machine. It costs credits while it runs. It accepts messages immediately: the first reply is delayed until it is ready.",
    route: routes.createAgent,
    input: CreateAgentArguments,
    output: AgentSummary,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    run: async (asked, { caller, operation }) => {
      const agent = await agents.create(caller, asked, { resourceId: randomUUID(), earlier: "none" });
      operation.isAbout(agent);
      return { result: toSummary(agent) };
    },
  });
  return [list, create];
}

function toSummary(state: AgentState): z.infer<typeof AgentSummary> {
  const { name, runtime, model, private: isPrivate, status, lastActiveAt, error } = state;
  return { name, runtime, model, private: isPrivate, status, lastActiveAt: lastActiveAt.toISOString(), error };
}
