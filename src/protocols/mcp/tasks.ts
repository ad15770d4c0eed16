import { type McpServer, ProtocolError, ProtocolErrorCode, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { AppContext } from "../../context.ts";
import { hasEnded } from "../../contract/chat.ts";
import { BerthError } from "../../contract/errors.ts";
import { placeIn } from "../../contract/mcp-tasks.ts";
import type { Route } from "../../contract/route.ts";
import { routes } from "../../contract/routes.ts";
import { requireOwnTurn } from "../../core/http/authorize.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../../core/http/paging.ts";
import type { CarriedOperation, Carrier } from "../carried-operations.ts";
import { answerApprovals, Elicitation } from "./elicitation.ts";
import type { McpClient } from "./mcp-client.ts";
import { Progress } from "./progress.ts";
import { type FoundTask, shownTask, withoutTasks } from "./shown-task.ts";
import { stateOf } from "./task-state.ts";
import { toResult } from "./tool.ts";
import { answerOf, waitForTurn } from "./turn-tools.ts";

const listed = 50;
/** How long a cancellation waits for the turn's end, and `tasks/result` for its result. */
const cancelSeconds = 5;
const resultSeconds = 1_800;
const relatedTask = "io.modelcontextprotocol/related-task";

const TaskParams = z.looseObject({ taskId: z.string() });
const ListParams = z.looseObject({ cursor: z.string().max(40_000).optional() });
const result = z.looseObject({});

interface TaskParts {
  context: AppContext;
  carrier: Carrier;
  client: McpClient;
}

/** Serves tasks, which are turns: those of the revision 2025-11-25, and of the extension of 2026-07-28. */
export function addTasks(server: McpServer, parts: TaskParts): void {
  const tasks = new Tasks(server, parts);
  const { server: protocol } = server;
  const { isModern } = parts.client;
  const ofTask = { params: TaskParams, result };
  protocol.setRequestHandler("tasks/get", ofTask, ({ taskId }) => tasks.get(taskId));
  protocol.setRequestHandler("tasks/cancel", ofTask, ({ taskId }) => tasks.cancel(taskId));
  if (isModern) {
    // The SDK takes the responses out of the parameters.
    protocol.setRequestHandler("tasks/update", ofTask, ({ taskId }, { mcpReq }) =>
      tasks.update(taskId, mcpReq.inputResponses ?? {}),
    );
    return;
  }
  protocol.setRequestHandler("tasks/result", ofTask, ({ taskId }, { mcpReq }) => tasks.result(taskId, mcpReq));
  protocol.setRequestHandler("tasks/list", { params: ListParams, result }, ({ cursor }) => tasks.list(cursor));
}

/** The methods of tasks, for one request. Each is an operation of the API. */
class Tasks {
  readonly #server: McpServer;
  readonly #parts: TaskParts;

  constructor(server: McpServer, parts: TaskParts) {
    this.#server = server;
    this.#parts = parts;
  }

  get(taskId: string): Promise<Record<string, unknown>> {
    return this.#perform(routes.getTurn, taskId, (found) => shownTask(this.#parts, found));
  }

  /** An empty result in the extension; before it, the task. */
  cancel(taskId: string): Promise<Record<string, unknown>> {
    const { turns } = this.#parts.context;
    return this.#perform(routes.cancelTurn, taskId, async (found) => {
      await turns.cancel(found.agent, found.turn);
      for await (const _ of turns.events.follow(found.turn, 0, AbortSignal.timeout(cancelSeconds * 1000)));
      return this.#parts.client.isModern ? {} : shownTask(this.#parts, found);
    });
  }

  /** The user's answers to what the task has asked. */
  async update(taskId: string, responses: Record<string, unknown>): Promise<Record<string, unknown>> {
    const { context, carrier } = this.#parts;
    await this.#perform(routes.getTurn, taskId, async () => ({}));
    await answerApprovals(context, carrier, placeIn(taskId)!, responses).catch(toProtocolError);
    return {};
  }

  /** The tool's result, once the task has ended. In the meantime the user is asked about approvals. */
  async result(taskId: string, request: ServerContext["mcpReq"]): Promise<Record<string, unknown>> {
    const { context, client, carrier } = this.#parts;
    const { turns, approvals } = context;
    using progress = new Progress(request);
    const elicitation = client.elicits ? new Elicitation(this.#server, request, client) : null;
    const call = { gone: request.signal, progress, elicitation, carrier };
    return this.#perform(routes.getTurn, taskId, async ({ agent, turn }) => {
      await waitForTurn({ turns, approvals }, turn, resultSeconds, call);
      const past = await turns.past.read(agent.id, turn.id);
      if (!hasEnded(past.status)) throw new ProtocolError(-32_000, "The task has not ended: ask for its result again.");
      return { ...toResult(answerOf(agent, past)), _meta: { [relatedTask]: { taskId } } };
    });
  }

  /** The turns of the caller's agents, newest first. */
  list(cursor: string | undefined): Promise<Record<string, unknown>> {
    const { context, carrier } = this.#parts;
    const { operations, turns } = context;
    const listing = operations.perform(routes.listAccountTurns, carrier, async () => {
      const after = fromCursor(cursor, timedPattern);
      const page = pageOf(
        await turns.past.ofAccount(carrier.request.caller, listed + 1, after, null),
        listed,
        timedKey,
      );
      const tasks = page.data.map((turn) => stateOf({ agent: turn.agent, turnId: turn.id }, turn, false));
      return { tasks, ...(page.nextCursor === null ? {} : { nextCursor: page.nextCursor }) };
    });
    return listing.catch(toProtocolError);
  }

  async #perform(
    route: Route,
    taskId: string,
    work: (found: FoundTask, operation: CarriedOperation) => Promise<Record<string, unknown>>,
  ): Promise<Record<string, unknown>> {
    const { context, carrier, client } = this.#parts;
    if (client.isModern && !client.takesTask) throw withoutTasks();
    const place = placeIn(taskId);
    if (place?.rest !== "") throw noTask(taskId);
    const performed = context.operations.perform(route, carrier, async (operation) => {
      const agent = await operation.findAgent(place.agent);
      const turn = await context.turns.find(agent.id, place.turnId);
      requireOwnTurn(carrier.request.caller, turn);
      return work({ agent, turn }, operation);
    });
    return performed.catch(toProtocolError);
  }
}

/** A caller that may not see a task gets no task, as for one that does not exist. */
function toProtocolError(thrown: unknown): never {
  if (!(thrown instanceof BerthError)) throw thrown;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${thrown.code}: ${thrown.message}`);
}

function noTask(taskId: string): ProtocolError {
  const shown = taskId.slice(0, 100).toWellFormed();
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no task ${shown}: its id is AGENT.TURN.`);
}
