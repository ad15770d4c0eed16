import type { ChildProcess } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type McpServer as AcpMcpServer,
  type ClientContext,
  type ContentBlock,
  client,
  type InitializeResponse,
  methods,
  type NewSessionRequest,
  ndJsonStream,
  type SessionConfigOption,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import { Effort, nearestEffort } from "../contract/effort.ts";
import { BerthError } from "../contract/errors.ts";
import { functionServer } from "../contract/functions.ts";
import type { McpServer } from "../contract/mcp-servers.ts";
import { eventsOf } from "./acp-events.ts";
import { AcpPermissions, permissionResponse } from "./acp-permissions.ts";
import { asText } from "./message-text.ts";
import { killTree, spawnRuntime } from "./process.ts";
import type { Prompt, PromptImage, Session, StartContext } from "./runtime.ts";

/** How to start a runtime that speaks the Agent Client Protocol on its standard input and output. */
export interface AcpLaunch {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
  /** The runtime's id of the session to continue; null starts a new one. */
  session: string | null;
  /** Passed to `session/new` and `session/resume` as `_meta`. */
  sessionMeta: Record<string, unknown>;
  /** The method for an `authenticate` call after `initialize`; null for no call. */
  authenticationMethod: string | null;
  /** Starts an empty session in the running process. Returns its id, for a later `resume`. */
  clear(acp: AcpConnection): Promise<string>;
  /** Whether a session is closed before another one is resumed, because each has processes of its own. */
  closesSessions: boolean;
  /**
   * Switches the runtime to another model and effort from the next turn; null is its own default. Throws a `BerthError` if
   * it cannot. Called when one differs from the last turn's, and in a session's first turn: a new one has the runtime's
   * defaults, and a resumed one may have those of then. `last` is the last turn's, null where it is not known.
   */
  choose(acp: AcpConnection, choice: Choice, last: Choice | null): Promise<void>;
  /** The start of a text chunk that is an error and not the model's text. It is reported as an error. */
  errorText: string | null;
  /** Matches an error after which the process is alive but has lost its session; null if there is no such error. */
  sessionLostText: RegExp | null;
}

/** The model of a turn, and how much it reasons. */
interface Choice {
  model: string | null;
  effort: Effort | null;
}

/** One session of a running runtime, as a launch's functions use it. */
export interface AcpConnection {
  readonly agent: ClientContext;
  sessionId: string;
  /** The choices that the session offered its client last. */
  readonly options: readonly SessionConfigOption[];
  /** Chooses the value of an option. */
  set(option: string, value: string): Promise<void>;
  /** Sends a text in the session. Returns what the runtime sent until it was done. */
  say(text: string): Promise<{ stopReason: string; updates: SessionUpdate[] }>;
  /** Opens a new, empty session in the same process and switches to it. */
  begin(): Promise<void>;
}

/** An extension of ACP (https://github.com/agentclientprotocol/claude-agent-acp): a message for a running turn. */
const steerMethod = "_session/steering";

interface Steering {
  supported?: unknown;
}

/** A runtime's process with an open session. */
interface Opened {
  session: OpenSession;
  agent: ClientContext;
  able: InitializeResponse;
  child: ChildProcess;
  ended: Promise<void>;
}

interface OpenSession {
  sessionId: string;
  options: readonly SessionConfigOption[];
}

/** How long a runtime may take to end a cancelled turn before its process is killed. */
const cancelGraceMs = 5_000;

/** Starts a runtime and opens its session over ACP. Rejects with `runtime_failed` if it exits or refuses. */
export async function startAcp(launch: AcpLaunch, context: StartContext): Promise<Session> {
  const words = new LastWords(context);
  const { child, ended } = await spawnRuntime(launch.command, launch.args, launch.env, "pipe", words.context);
  const listeners = new Set<(update: SessionUpdate) => void>();
  const servers = [functionServer, ...Object.keys(context.mcpServers)];
  const permissions = new AcpPermissions(servers, context.home);
  const connection = client({ name: "berth" })
    .onNotification(methods.client.session.update, ({ params }) => {
      const { update } = params;
      if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") permissions.saw(update);
      for (const listener of listeners) listener(update);
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      await permissions.inputKnown(params);
      return permissionResponse(params, await context.approvals.mayUse(permissions.useOf(params)));
    })
    .connect(ndJsonStream(Writable.toWeb(child.stdin!), Readable.toWeb(child.stdout!) as ReadableStream<Uint8Array>));
  void ended.then(() => connection.close());

  try {
    const { agent } = connection;
    const able = await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    if (launch.authenticationMethod) {
      await agent.request(methods.agent.authenticate, { methodId: launch.authenticationMethod });
    }
    const session = await openSession(agent, able, launch.session, launch, context);
    return new AcpSession({ session, agent, able, child, ended }, listeners, launch, context);
  } catch (error) {
    // It may just have ended, and that says more than the connection's end.
    await Promise.race([ended, sleep(endNoticeMs)]);
    killTree(child);
    const reason = [reasonOf(error), ...words.lines].join("\n");
    throw new BerthError("runtime_failed", `The runtime did not start: ${reason}`, { cause: error });
  } finally {
    words.end();
  }
}

/** How long to wait, after a failed start, for the process's end and its last output. */
const endNoticeMs = 500;
const keptLines = 5;
const keptLength = 300;

/** The end of a runtime's error output while it starts. */
class LastWords {
  readonly lines: string[] = [];
  readonly context: StartContext;
  #isOver = false;

  constructor(context: StartContext) {
    const log = (line: string) => {
      if (!this.#isOver) this.lines.push(line.slice(0, keptLength));
      if (this.lines.length > keptLines) this.lines.shift();
      context.log(line);
    };
    this.context = { ...context, log };
  }

  end(): void {
    this.#isOver = true;
  }
}

/** Chooses the session's reasoning level where it offers a choice. */
export async function chooseEffort(acp: AcpConnection, effort: Effort | null): Promise<void> {
  const option = acp.options.find(({ category, type }) => category === "thought_level" && type === "select");
  if (option?.type !== "select") return;
  const offered = valuesOf(option);
  const levels = offered.filter((value): value is Effort => Effort.safeParse(value).success);
  const value = effort === null ? "default" : nearestEffort(effort, levels);
  if (value !== null && offered.includes(value) && value !== option.currentValue) await acp.set(option.id, value);
}

/** The values that an option offers. */
export function valuesOf(option: SessionConfigOption): string[] {
  if (option.type !== "select") return [];
  return option.options.flatMap((each) => ("options" in each ? each.options : [each])).map(({ value }) => value);
}

/** Opens the session with this id if the runtime has it, or a new one. */
async function openSession(
  agent: ClientContext,
  able: InitializeResponse,
  id: string | null,
  launch: AcpLaunch,
  context: StartContext,
): Promise<OpenSession> {
  const { loadSession, sessionCapabilities } = able.agentCapabilities ?? {};
  if (id !== null && (sessionCapabilities?.resume || loadSession)) {
    const params = { sessionId: id, ...sessionParams(able, launch, context) };
    try {
      const { configOptions } = sessionCapabilities?.resume
        ? await agent.request(methods.agent.session.resume, params)
        : await agent.request(methods.agent.session.load, params);
      return { sessionId: id, options: configOptions ?? [] };
    } catch (error) {
      // Not every runtime keeps a session without a finished turn. Starting a new one loses nothing.
      context.log(`cannot resume ${id}, beginning a new one: ${reasonOf(error)}`);
    }
  }
  return newSession(agent, able, launch, context);
}

async function newSession(
  agent: ClientContext,
  able: InitializeResponse,
  launch: AcpLaunch,
  context: StartContext,
): Promise<OpenSession> {
  const params = sessionParams(able, launch, context);
  const { sessionId, configOptions } = await agent.request(methods.agent.session.new, params);
  return { sessionId, options: configOptions ?? [] };
}

function sessionParams(able: InitializeResponse, { sessionMeta }: AcpLaunch, context: StartContext): NewSessionRequest {
  const { home, functionsUrl, mcpServers, log } = context;
  const all = Object.entries({ [functionServer]: { url: functionsUrl }, ...mcpServers });
  const takesHttp = able.agentCapabilities?.mcpCapabilities?.http ?? false;
  const taken = all.filter(([, server]) => takesHttp || !("url" in server));
  for (const [name] of all.filter((each) => !taken.includes(each)))
    log(`the MCP server ${name} is left out: the runtime takes none over HTTP`);
  return { cwd: home, mcpServers: taken.map(mcpServerOf), _meta: sessionMeta };
}

function mcpServerOf([name, server]: [string, McpServer]): AcpMcpServer {
  if ("url" in server) return { type: "http", name, url: server.url, headers: pairsOf(server.headers) };
  return { name, command: server.command, args: server.args ?? [], env: pairsOf(server.env) };
}

function pairsOf(values: Record<string, string> = {}): { name: string; value: string }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

function imageBlock({ mediaType, data }: PromptImage): ContentBlock {
  return { type: "image", mimeType: mediaType, data };
}

class AcpSession implements Session, AcpConnection {
  sessionId: string;
  options: readonly SessionConfigOption[];
  id: string;
  readonly ended: Promise<void>;
  readonly agent: ClientContext;
  readonly #able: InitializeResponse;
  readonly #child: ChildProcess;
  readonly #listeners: Set<(update: SessionUpdate) => void>;
  readonly #launch: AcpLaunch;
  readonly #context: StartContext;
  /** Null if unknown. */
  #choice: Choice | null;

  constructor(
    { session, agent, able, child, ended }: Opened,
    listeners: Set<(update: SessionUpdate) => void>,
    launch: AcpLaunch,
    context: StartContext,
  ) {
    this.sessionId = session.sessionId;
    this.options = session.options;
    this.id = session.sessionId;
    this.agent = agent;
    this.#able = able;
    this.#child = child;
    this.ended = ended;
    this.#listeners = listeners;
    this.#launch = launch;
    this.#context = context;
    this.#choice = launch.session === null ? { model: null, effort: null } : null;
  }

  async prompt(prompt: Prompt, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent> {
    const text = new TextOrError(this.#launch.errorText, emit);
    let graceTimer: NodeJS.Timeout | undefined;
    const cancel = () => {
      void this.agent.notify(methods.agent.session.cancel, { sessionId: this.sessionId }).catch(() => {});
      graceTimer = setTimeout(() => this.stop(), cancelGraceMs);
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      if (!signal.aborted) await this.#choose({ model: prompt.model, effort: prompt.effort ?? null });
      if (signal.aborted) return { type: "response.cancelled" };
      const images = this.#able.agentCapabilities?.promptCapabilities?.image ? prompt.images : [];
      const stopReason = await this.#ask(asText(prompt.message), (update) => text.takeAll(eventsOf(update)), images);
      text.flush();
      return lastEventOf(stopReason, signal);
    } catch (error) {
      this.#stopIfLost(error);
      if (signal.aborted) return { type: "response.cancelled" };
      const code = error instanceof BerthError ? error.code : "runtime_failed";
      return { type: "response.failed", error: { code, message: reasonOf(error) } };
    } finally {
      clearTimeout(graceTimer);
      signal.removeEventListener("abort", cancel);
    }
  }

  async say(text: string): Promise<{ stopReason: string; updates: SessionUpdate[] }> {
    const updates: SessionUpdate[] = [];
    const stopReason = await this.#ask(text, (update) => updates.push(update));
    return { stopReason, updates };
  }

  async begin(): Promise<void> {
    this.#take(await newSession(this.agent, this.#able, this.#launch, this.#context));
  }

  async steer(message: string): Promise<boolean> {
    if ((this.#able._meta?.steering as Steering | undefined)?.supported !== true) return false;
    const { outcome } = await this.agent.request<{ outcome: string }>(steerMethod, {
      sessionId: this.sessionId,
      prompt: [{ type: "text", text: asText(message) }],
      // Without a running turn, the message is the server's to send.
      _meta: { steering: { idleBehavior: "promptRequired" } },
    });
    return outcome === "injected";
  }

  async enter(id: string | null): Promise<void> {
    try {
      if (id === null) this.id = await this.#launch.clear(this);
      else await this.#resume(id);
    } catch (error) {
      this.#stopIfLost(error);
      throw error;
    }
  }

  async #resume(id: string): Promise<void> {
    const { sessionId } = this;
    const { closesSessions } = this.#launch;
    if (closesSessions) await this.agent.request(methods.agent.session.close, { sessionId });
    this.#take(await openSession(this.agent, this.#able, id, this.#launch, this.#context));
    this.id = this.sessionId;
  }

  #take({ sessionId, options }: OpenSession): void {
    this.sessionId = sessionId;
    this.options = options;
    this.#choice = null;
  }

  stop(): void {
    killTree(this.#child);
  }

  /** A new process can resume the session. */
  #stopIfLost(error: unknown): void {
    if (this.#launch.sessionLostText?.test(reasonOf(error))) this.stop();
  }

  async #choose(choice: Choice): Promise<void> {
    const { model, effort } = choice;
    const last = this.#choice;
    if (model === last?.model && effort === last.effort) return;
    this.#choice = null;
    await this.#launch.choose(this, choice, last);
    this.#choice = choice;
  }

  async set(configId: string, value: string): Promise<void> {
    const { sessionId } = this;
    const set = await this.agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value });
    this.options = set.configOptions;
  }

  /** Sends a text with images and returns the runtime's stop reason. */
  async #ask(
    text: string,
    listener: (update: SessionUpdate) => void,
    images: readonly PromptImage[] = [],
  ): Promise<string> {
    this.#listeners.add(listener);
    try {
      const { stopReason } = await this.agent.request(methods.agent.session.prompt, {
        sessionId: this.sessionId,
        prompt: [{ type: "text", text }, ...images.map(imageBlock)],
      });
      return stopReason;
    } finally {
      this.#listeners.delete(listener);
    }
  }
}

/**
 * Passes events on. A text that looks like an error is held until it is known whether the turn fails, since the error
 * then says the same.
 */
class TextOrError {
  readonly #beginning: string | null;
  readonly #emit: (event: TurnEvent) => void;
  #held: TurnEvent | null = null;

  constructor(beginning: string | null, emit: (event: TurnEvent) => void) {
    this.#beginning = beginning;
    this.#emit = emit;
  }

  takeAll(events: readonly TurnEvent[]): void {
    for (const event of events) this.#take(event);
  }

  #take(event: TurnEvent): void {
    if ("delta" in event && event.delta === "") return;
    this.flush();
    const text = event.type === "response.output_text.delta" ? event.delta : "";
    if (this.#beginning !== null && text.startsWith(this.#beginning)) this.#held = event;
    else this.#emit(event);
  }

  flush(): void {
    if (this.#held) this.#emit(this.#held);
    this.#held = null;
  }
}

function lastEventOf(stopReason: string, signal: AbortSignal): LastEvent {
  if (signal.aborted) return { type: "response.cancelled" };
  if (stopReason === "cancelled") {
    return {
      type: "response.failed",
      error: { code: "runtime_failed", message: "The runtime interrupted the turn itself." },
    };
  }
  if (stopReason === "refusal") {
    return { type: "response.failed", error: { code: "model_failed", message: "The model refused to answer." } };
  }
  return { type: "response.completed" };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const data = (error as { data?: unknown }).data;
  const details = typeof data === "object" && data !== null ? (data as { details?: unknown }).details : undefined;
  const message = error.message.replace(/^Internal error: /, "");
  return typeof details === "string" ? `${message}: ${details}` : message;
}
