import { createHash } from "node:crypto";
import type {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import {
  JsonRpcTransportError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import type { AgentState } from "../../agents/agent.ts";
import type { Approvals } from "../../approvals/approvals.ts";
import { hasEnded } from "../../contract/chat.ts";
import { BerthError } from "../../contract/errors.ts";
import type { Route } from "../../contract/route.ts";
import { routes } from "../../contract/routes.ts";
import type { Conversations } from "../../conversations/conversations.ts";
import { requireOwnTurn } from "../../core/http/authorize.ts";
import { errorBody } from "../../core/http/errors.ts";
import { pageOf, timedKey } from "../../core/http/paging.ts";
import { beginContent } from "../../turns/begin-content.ts";
import type { TurnState } from "../../turns/turn.ts";
import type { Turns } from "../../turns/turns.ts";
import type { Uploads } from "../../uploads/uploads.ts";
import type { CarriedOperation, CarriedOperations, Carrier } from "../carried-operations.ts";
import { decisionIn, messageIn } from "./messages.ts";
import type { TaskNotifications } from "./notifications.ts";
import type { PushTarget } from "./push-config.ts";
import { cursorIn, filterOf } from "./task-filter.ts";
import { conversationOf, taskOf, updatesOf } from "./tasks.ts";

/** The JSON-RPC code of refusals for which A2A has no error. The message begins with the service's own code. */
const refusalCode = -32_050;
/** How long a cancellation waits for the task's end. */
const cancelMs = 5_000;
const usualPage = 50;
/** The protocol's own operation: a caller that may read a task may be notified of it. */
const pushing: Route = { ...routes.a2a, audited: true };

interface TaskParts {
  conversations: Conversations;
  turns: Turns;
  uploads: Uploads;
  approvals: Approvals;
  notifications: TaskNotifications;
  operations: CarriedOperations;
  carrier: Carrier;
  agent: AgentState;
  /** Aborts when the client disconnects. */
  gone: AbortSignal;
}

/** An agent's turns as tasks of the Agent2Agent protocol, for one request. Each method is an operation of the API. */
export class AgentTasks implements A2ARequestHandler {
  readonly #parts: TaskParts;

  constructor(parts: TaskParts) {
    this.#parts = parts;
  }

  async sendMessage(request: SendMessageRequest): Promise<Task> {
    const turn = await this.#beginOrAnswer(request);
    const { historyLength, returnImmediately } = request.configuration ?? {};
    if (!returnImmediately) await this.#untilOverOrAsking(turn);
    return this.#task(turn, historyLength);
  }

  async *sendMessageStream(request: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const turn = await this.#beginOrAnswer(request);
    yield* this.#stream(turn, request.configuration?.historyLength);
  }

  async *resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    const turn = await this.#perform(routes.getTurnEvents, (operation) => this.#find(operation, id));
    if (hasEnded(turn.status))
      throw new UnsupportedOperationError("The task has ended; GetTask returns it completely.");
    yield* this.#stream(turn);
  }

  getTask({ id, historyLength }: GetTaskRequest): Promise<Task> {
    return this.#perform(routes.getTurn, async (operation) =>
      this.#task(await this.#find(operation, id), historyLength),
    );
  }

  /** A page of the tasks, newest first; `totalSize` counts those of all pages. */
  listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    const { pageSize: limit = usualPage, pageToken, historyLength = 0, includeArtifacts = false } = request;
    const { past } = this.#parts.turns;
    return this.#perform(routes.listTurns, async (operation) => {
      const { id } = this.#agentOf(operation);
      const after = cursorIn(pageToken);
      const filter = filterOf(request);
      if (!filter) return { tasks: [], nextPageToken: "", pageSize: limit, totalSize: 0 };
      const page = pageOf(await past.list(id, limit + 1, after, filter), limit, timedKey);
      const tasks = page.data.map((turn) => taskOf(turn, { historyLength, withReply: includeArtifacts }));
      const totalSize = await past.count(id, filter);
      return { tasks, nextPageToken: page.nextCursor ?? "", pageSize: limit, totalSize };
    });
  }

  cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    const { turns } = this.#parts;
    return this.#perform(routes.cancelTurn, async (operation) => {
      const turn = await this.#find(operation, id);
      await turns.cancel(this.#parts.agent, turn);
      for await (const _ of turns.events.follow(turn, 0, AbortSignal.timeout(cancelMs)));
      return this.#task(turn);
    });
  }

  async getAgentCard(): Promise<AgentCard> {
    throw new UnsupportedOperationError("The card is at .well-known/agent-card.json below the agent.");
  }

  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    throw new UnsupportedOperationError("There is no extended card: the card is the same for every caller.");
  }

  createTaskPushNotificationConfig(config: TaskPushNotificationConfig): Promise<TaskPushNotificationConfig> {
    const { notifications, carrier } = this.#parts;
    return this.#perform(pushing, async (operation) => {
      const turn = await this.#find(operation, config.taskId);
      return notifications.set(carrier.request.caller, turn, await notifications.check(config));
    });
  }

  getTaskPushNotificationConfig(asked: GetTaskPushNotificationConfigRequest): Promise<TaskPushNotificationConfig> {
    const { notifications, carrier } = this.#parts;
    return this.#perform(routes.getTurn, async (operation) => {
      const turn = await this.#find(operation, asked.taskId);
      return notifications.find(carrier.request.caller, turn, asked.id);
    });
  }

  /** All on one page. */
  listTaskPushNotificationConfigs({
    taskId,
  }: ListTaskPushNotificationConfigsRequest): Promise<ListTaskPushNotificationConfigsResponse> {
    const { notifications, carrier } = this.#parts;
    return this.#perform(routes.getTurn, async (operation) => {
      const configs = await notifications.list(carrier.request.caller, await this.#find(operation, taskId));
      return { configs, nextPageToken: "" };
    });
  }

  deleteTaskPushNotificationConfig(asked: DeleteTaskPushNotificationConfigRequest): Promise<void> {
    const { notifications, carrier } = this.#parts;
    return this.#perform(pushing, async (operation) => {
      const turn = await this.#find(operation, asked.taskId);
      await notifications.remove(carrier.request.caller, turn, asked.id);
    });
  }

  /**
   * Begins a turn; a message to a task answers its oldest approval. A message that is sent again sets its push notifications
   * again.
   */
  async #beginOrAnswer(request: SendMessageRequest): Promise<TurnState> {
    const { message, configuration } = request;
    const config = configuration?.taskPushNotificationConfig;
    const target = config && (await this.#parts.notifications.check(config));
    const taskId = message?.taskId ?? "";
    const turn = await (taskId === "" ? this.#begin(request) : this.#answer(taskId, message!));
    if (target) await this.#notify(turn, { ...target, id: target.id || turn.id });
    return turn;
  }

  #notify(turn: TurnState, target: PushTarget): Promise<unknown> {
    const { notifications, carrier, agent } = this.#parts;
    return this.#perform(pushing, (operation) => {
      operation.isAbout(agent);
      return notifications.set(carrier.request.caller, turn, target);
    });
  }

  #answer(taskId: string, message: Message): Promise<TurnState> {
    const { approvals, carrier, agent } = this.#parts;
    return this.#perform(routes.answerApproval, async (operation) => {
      const turn = await this.#find(operation, taskId);
      if (message.contextId !== "" && conversationOf(message.contextId) !== turn.conversation)
        throw new RequestMalformedError(`The task is of the context conversation-${turn.conversation}.`);
      if (hasEnded(turn.status))
        throw new UnsupportedOperationError("The task has ended: begin another one without a taskId.");
      const decision = decisionIn(message);
      const first = await approvals.firstOpen(turn);
      if (!first)
        throw new UnsupportedOperationError("The task waits for no approval: begin another one without a taskId.");
      await approvals.answer(agent, turn, first.id, { decision }, carrier.request.caller);
      return turn;
    });
  }

  async #untilOverOrAsking(turn: TurnState): Promise<void> {
    for await (const batch of this.#events(turn)) {
      const asks = batch.some(({ event }) => event.type === "response.approval.requested");
      // One that is answered by now waits no more.
      if (asks && (await this.#parts.turns.find(turn.agentId, turn.id)).waiting) return;
    }
  }

  /** Starts a turn, or finds the one that the same message of this client has started. */
  #begin(request: SendMessageRequest): Promise<TurnState> {
    const { conversations, turns, uploads, carrier } = this.#parts;
    return this.#perform(routes.chat, async (operation) => {
      const { caller, log } = carrier.request;
      const agent = this.#agentOf(operation);
      const { content, conversation } = messageIn(request);
      // Clients repeat a task's context. The current conversation may be one that the key did not create.
      const isOther = conversation !== undefined && conversation !== agent.conversation;
      if (isOther) await conversations.find(agent, conversation, caller);
      const id = turnIdOf(agent.id, caller, request.message!.messageId);
      try {
        const additions = { conversation, onAsk: "wait" } as const;
        const turn = await beginContent({ turns, uploads }, id, agent, content, caller, additions);
        log.info({ turnId: id, agentId: agent.id }, "turn begun");
        return turn;
      } catch (error) {
        // Looked up only now: few messages are sent again, and every other one would pay for it.
        const earlier = await turns.begun(agent.id, id);
        if (earlier) return earlier;
        throw error;
      }
    });
  }

  /** The request's agent, which its caller may use, named for the audit entry. */
  #agentOf(operation: CarriedOperation): AgentState {
    operation.isAbout(this.#parts.agent);
    return this.#parts.agent;
  }

  async #find(operation: CarriedOperation, id: string): Promise<TurnState> {
    const { turns, carrier } = this.#parts;
    if (id === "") throw new RequestMalformedError("The id of a task is required.");
    const turn = await turns.find(this.#agentOf(operation).id, id);
    requireOwnTurn(carrier.request.caller, turn);
    return turn;
  }

  async #task({ agentId, id }: TurnState, historyLength?: number): Promise<Task> {
    return taskOf(await this.#parts.turns.past.read(agentId, id), { historyLength: historyLength ?? 1 });
  }

  /** The task's current state, then all its updates from the beginning, so that a late reader gets everything. */
  async *#stream(turn: TurnState, historyLength = 1): AsyncGenerator<StreamResponse, void, undefined> {
    // It has just started, or is running: no lookup before the first event.
    const now = {
      reply: "",
      replyTruncated: false,
      error: null,
      output: null,
      changes: null,
      askedBy: null,
      createdBy: null,
      undone: false,
      createdAt: new Date(),
      finishedAt: null,
    };
    yield { payload: { $case: "task", value: taskOf({ ...turn, ...now }, { historyLength }) } };
    let isFirst = true;
    for await (const batch of this.#events(turn)) {
      yield* updatesOf(turn, batch, isFirst);
      isFirst &&= !batch.some(({ event }) => event.type === "response.output_text.delta");
    }
  }

  #events(turn: TurnState) {
    return this.#parts.turns.events.follow(turn, 0, this.#parts.gone);
  }

  /** As `CarriedOperations.perform`, with A2A's errors for refusals. */
  async #perform<Result>(route: Route, work: (operation: CarriedOperation) => Promise<Result>): Promise<Result> {
    const refusal: { by?: Error } = {};
    try {
      return await this.#parts.operations.perform(route, this.#parts.carrier, async (operation) => {
        try {
          return await work(operation);
        } catch (error) {
          // A refusal of the protocol itself is the client's fault, and logged as such.
          if (!(error instanceof Error) || error instanceof BerthError || !("toErrorInfo" in error)) throw error;
          refusal.by = error;
          throw new BerthError("request_invalid", error.message);
        }
      });
    } catch (error) {
      throw refusal.by ?? toA2aError(error);
    }
  }
}

function toA2aError(thrown: unknown): unknown {
  if (!(thrown instanceof BerthError)) return thrown;
  const { code, message } = errorBody(thrown);
  if (code === "turn_not_found") return new TaskNotFoundError(message);
  if (code === "turn_finished") return new TaskNotCancelableError(message);
  if (code === "request_invalid") return new RequestMalformedError(message);
  const error = { code: refusalCode, message: `${code}: ${message}` };
  return new JsonRpcTransportError({ jsonrpc: "2.0", id: null, error });
}

/** The same for the same message of the same client, so that a retry starts nothing again. */
function turnIdOf(agentId: string, caller: { accountId: string; keyId: string | null }, messageId: string): string {
  const hash = createHash("sha256").update(JSON.stringify([agentId, caller.accountId, caller.keyId, messageId]));
  return hash.digest("hex").replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}
