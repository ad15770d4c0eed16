import { type TaskPlace, taskIdOf } from "../../contract/mcp-tasks.ts";
import { type PastTurn, shownStatus } from "../../turns/turn.ts";
import type { McpClient } from "./mcp-client.ts";

/** How often clients should look. */
const pollMs = 2_000;

/** The fields with which a tool's result is a task, without what its status adds. */
export function taskFields(place: TaskPlace, turn: TaskTurn, { isModern }: McpClient): Record<string, unknown> {
  return isModern ? { resultType: "task", ...stateOf(place, turn, true) } : { task: stateOf(place, turn, false) };
}

export type TaskTurn = Pick<PastTurn, "status" | "waiting" | "error" | "createdAt" | "finishedAt">;

/** A turn as a task, without what its status adds in the extension. */
export function stateOf(place: TaskPlace, turn: TaskTurn, isModern: boolean) {
  const { error, createdAt, finishedAt } = turn;
  const interval = isModern ? { ttlMs: null, pollIntervalMs: pollMs } : { ttl: null, pollInterval: pollMs };
  return {
    taskId: taskIdOf(place),
    status: statusOf(turn, isModern),
    ...(error ? { statusMessage: `${error.code}: ${error.message}` } : {}),
    createdAt: createdAt.toISOString(),
    lastUpdatedAt: (finishedAt ?? createdAt).toISOString(),
    ...interval,
  };
}

/** In the extension, a tool that has failed has a result, and only calls without one fail. */
function statusOf(turn: TaskTurn, isModern: boolean) {
  switch (shownStatus(turn)) {
    case "waiting":
      return "input_required";
    case "completed":
    case "cancelled":
      return turn.status;
    case "failed":
      return isModern ? "completed" : "failed";
    default:
      return "working";
  }
}
