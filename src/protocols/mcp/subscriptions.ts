import { once } from "node:events";
import { PassThrough } from "node:stream";
import {
  createMcpHandler,
  type McpHandlerRequestOptions,
  type McpServerFactory,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { z } from "zod";
import type { AppContext } from "../../context.ts";
import type { SseEvent } from "../../core/http/sse.ts";
import type { Carrier } from "../carried-operations.ts";
import { clientOf } from "./mcp-client.ts";
import { type FoundTask, withoutTasks } from "./shown-task.ts";
import { findTasks, idOf, statesOf, type TaskParts } from "./task-notifications.ts";

const TaskIds = z.array(z.string().max(200)).max(1_000);

interface Message {
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
}

/** Whether a request opens a stream of notifications. */
export function isSubscription(body: unknown): boolean {
  return (body as { method?: unknown } | null)?.method === "subscriptions/listen";
}

/**
 * Streams of notifications: the list of resources has changed, as it does with the list of agents, and the states of
 * tasks, which the SDK leaves to its users.
 */
export class Subscriptions {
  readonly #servers: McpServerFactory;
  readonly #context: AppContext;
  readonly #onerror: (error: Error) => void;

  constructor(servers: McpServerFactory, context: AppContext, onerror: (error: Error) => void) {
    this.#servers = servers;
    this.#context = context;
    this.#onerror = onerror;
  }

  /** The stream of one client, whose notifications are those of its caller alone, until the request is aborted. */
  async open(
    request: Request,
    options: McpHandlerRequestOptions,
    carrier: Carrier,
  ): Promise<Response | AsyncGenerator<SseEvent[]>> {
    const handler = createMcpHandler(this.#servers, { onerror: this.#onerror });
    const events = this.#context.events.read(carrier.request.caller, null, request.signal);
    // The position is known before the client is: no change after the acknowledgement is missed.
    await events.next();
    const answer = await handler.fetch(request, options);
    const ended = this.#follow(events, () => handler.notify.resourcesChanged()).finally(() => handler.close());
    const ids = taskIdsIn(options.parsedBody);
    if (ids === undefined || !answer.body || !answer.ok) return answer;
    const parts = { context: this.#context, carrier, client: clientOf({ era: "modern" }, carrier.request) };
    const refusal = refusalOf(ids, parts, options.parsedBody as Message);
    if (refusal) return refusal;
    const over = new AbortController();
    void ended.finally(() => over.abort());
    const tasks = await findTasks(parts, TaskIds.parse(ids));
    return withTasks(answer.body, { parts, tasks }, AbortSignal.any([request.signal, over.signal]));
  }

  async #follow(events: ReturnType<AppContext["events"]["read"]>, changed: () => void): Promise<void> {
    try {
      for await (const batch of events)
        if (batch.some(({ type }) => type === "agent.created" || type === "agent.deleted" || type === "events.dropped"))
          changed();
    } catch (error) {
      this.#onerror(error as Error);
    }
  }
}

/** Undefined: the client has not asked for notifications of tasks. */
function taskIdsIn(body: unknown): unknown {
  return (body as { params?: { notifications?: { taskIds?: unknown } } }).params?.notifications?.taskIds;
}

function refusalOf(ids: unknown, { client }: TaskParts, { id }: Message): Response | null {
  const { error: issue } = TaskIds.safeParse(ids);
  const { code, message, data } = withoutTasks();
  const error = issue
    ? { code: ProtocolErrorCode.InvalidParams, message: "notifications.taskIds is a list of up to 1,000 ids of tasks." }
    : { code, message, data };
  return issue || !client.takesTask ? Response.json({ jsonrpc: "2.0", id, error }, { status: 400 }) : null;
}

/** The SDK's stream, with the tasks in its acknowledgement and their states after it. */
async function* withTasks(
  body: ReadableStream<Uint8Array>,
  { parts, tasks }: { parts: TaskParts; tasks: readonly FoundTask[] },
  signal: AbortSignal,
): AsyncGenerator<SseEvent[]> {
  const messages = body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  const reader = messages.getReader();
  const acknowledged = JSON.parse((await reader.read()).value!.data) as Message & { params: Record<string, object> };
  const { params } = acknowledged;
  yield [
    toEvent({
      ...acknowledged,
      params: { ...params, notifications: { ...params.notifications, taskIds: tasks.map(idOf) } },
    }),
  ];
  const out = new PassThrough({ objectMode: true });
  const write = async (message: Message) => {
    if (!out.write(message)) await once(out, "drain", { signal });
  };
  // The SDK's result comes at once if it has nothing to report, and is the last message.
  let result: Message | null = null;
  const others = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const message = JSON.parse(next.value.data) as Message;
      if (message.id === undefined) await write(message);
      else result = message;
    }
  };
  const ofTask = async (task: FoundTask) => {
    for await (const state of statesOf(parts, task, signal))
      await write({ method: "notifications/tasks", params: { ...state, _meta: params._meta } });
  };
  void Promise.all([others(), ...tasks.map(ofTask)])
    .then(() => out.end())
    .catch((error: unknown) => (signal.aborted ? out.end() : out.destroy(error as Error)));
  for await (const message of out) yield [toEvent(message as Message)];
  if (result) yield [toEvent(result)];
}

function toEvent(message: Message): SseEvent {
  return { event: "message", data: { ...message, jsonrpc: "2.0" } };
}
