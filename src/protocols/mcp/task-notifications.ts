import type { AppContext } from "../../context.ts";
import { isLast, type TurnEvent } from "../../contract/chat.ts";
import { BerthError } from "../../contract/errors.ts";
import { placeIn, taskIdOf } from "../../contract/mcp-tasks.ts";
import { routes } from "../../contract/routes.ts";
import { requireOwnTurn } from "../../core/http/authorize.ts";
import type { Carrier } from "../carried-operations.ts";
import type { McpClient } from "./mcp-client.ts";
import { type FoundTask, shownTask } from "./shown-task.ts";

/** How many tasks a subscription follows. */
const maximumTasks = 20;

export interface TaskParts {
  context: AppContext;
  carrier: Carrier;
  client: McpClient;
}

/** The tasks with these ids that the caller may read, without the others. */
export async function findTasks({ context, carrier }: TaskParts, ids: readonly string[]): Promise<FoundTask[]> {
  const found: FoundTask[] = [];
  for (const id of new Set(ids)) {
    const place = placeIn(id);
    if (place?.rest !== "" || found.length === maximumTasks) continue;
    const finding = context.operations.perform(routes.getTurn, carrier, async (operation) => {
      const agent = await operation.findAgent(place.agent);
      const turn = await context.turns.find(agent.id, place.turnId);
      requireOwnTurn(carrier.request.caller, turn);
      return { agent, turn };
    });
    const task = await finding.catch((error: unknown) => {
      if (error instanceof BerthError && error.status < 500) return null;
      throw error;
    });
    if (task) found.push(task);
  }
  return found;
}

/** The task's state, and its states after each change of its status, up to its end. */
export async function* statesOf(
  parts: TaskParts,
  task: FoundTask,
  signal: AbortSignal,
): AsyncGenerator<Record<string, unknown>> {
  const { events } = parts.context.turns;
  const after = await events.last(task.turn);
  let shown = await shownTask(parts, task);
  yield shown;
  for await (const batch of events.follow(task.turn, after, signal)) {
    if (!batch.some(({ event }) => changesStatus(event))) continue;
    const next = await shownTask(parts, task);
    if (JSON.stringify(next) !== JSON.stringify(shown)) yield next;
    shown = next;
  }
}

function changesStatus(event: TurnEvent): boolean {
  return isLast(event) || event.type === "response.approval.requested" || event.type === "response.approval.resolved";
}

export function idOf({ agent, turn }: FoundTask): string {
  return taskIdOf({ agent: agent.name, turnId: turn.id });
}
