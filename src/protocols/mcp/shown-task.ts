import { MissingRequiredClientCapabilityError } from "@modelcontextprotocol/server";
import type { AgentState } from "../../agents/agent.ts";
import type { AppContext } from "../../context.ts";
import { shownStatus, type TurnState } from "../../turns/turn.ts";
import { elicitationOf } from "./elicitation.ts";
import { type McpClient, tasksExtension } from "./mcp-client.ts";
import { stateOf } from "./task-state.ts";
import { toResult } from "./tool.ts";
import { answerOf } from "./turn-tools.ts";

/** A turn of an agent that the caller may use. */
export interface FoundTask {
  agent: AgentState;
  turn: TurnState;
}

/** A task with what its status adds in the extension: a result, or requests for the user. */
export async function shownTask(
  { context, client }: { context: AppContext; client: McpClient },
  { agent, turn }: FoundTask,
): Promise<Record<string, unknown>> {
  const past = await context.turns.past.read(agent.id, turn.id);
  const state = stateOf({ agent: agent.name, turnId: turn.id }, past, client.isModern);
  if (!client.isModern) return state;
  const status = shownStatus(past);
  if (status === "completed" || status === "failed")
    return { ...state, result: { resultType: "complete", ...toResult(answerOf(agent, past)) } };
  if (status !== "waiting") return state;
  const open = client.elicits ? await context.approvals.firstOpen(past) : null;
  return { ...state, inputRequests: open ? { [open.id]: elicitationOf(open) } : {} };
}

/** The error for a client that uses tasks without declaring them. */
export function withoutTasks(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } });
}
