import {
  type AgentApp,
  type AgentContext,
  agent,
  type ContentBlock,
  methods,
  PROTOCOL_VERSION,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { type AgentHandle, ApiError, ClientError, type Inclusion, isLast, type Reply, type Turn } from "@berth/client";
import type { ApprovalRequest } from "../approval-text.ts";
import { reportSeen } from "../seen-turns.ts";
import { contentOfPrompt } from "./prompt-content.ts";
import { remark, updateOf, userMessage } from "./session-updates.ts";

/** The last turns of a conversation that a replay shows. */
const replayedTurns = 50;
const listedSessions = 100;
const include: readonly Inclusion[] = ["reasoning", "tools", "approvals"];

interface HostedOptions {
  agent: AgentHandle;
  version: string;
  /** Begin a new conversation of the agent with each new session. */
  reset: boolean;
  /** Notifies the user of events that the protocol has no message for. */
  note: (message: string) => void;
  /** Aborts when the editor disconnects. Turns continue without it. */
  gone: AbortSignal;
}

/** A hosted agent as an agent of the Agent Client Protocol. */
export function hostedAgent(options: HostedOptions): AgentApp {
  const hosted = new HostedAgent(options);
  return agent({ name: "berth" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "berth", title: `${options.agent.name} on Berth`, version: options.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true, image: true, audio: false },
        sessionCapabilities: { list: {}, resume: {} },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, ({ params }) => told(hosted.begin(params.mcpServers.length)))
    .onRequest(methods.agent.session.load, ({ params, client }) => told(hosted.load(params.sessionId, client)))
    .onRequest(methods.agent.session.resume, ({ params }) => told(hosted.resume(params.sessionId)))
    .onRequest(methods.agent.session.list, ({ params }) => told(hosted.list(params.cwd ?? process.cwd())))
    .onRequest(methods.agent.session.prompt, ({ params, client }) =>
      told(hosted.prompt(params.sessionId, params.prompt, client)),
    )
    .onNotification(methods.agent.session.cancel, () => hosted.cancel());
}

/** A session is one of the agent's conversations: its id holds the conversation's number. */
class HostedAgent {
  readonly #options: HostedOptions;
  /** The current prompt; null between turns. */
  #reply: Reply | null = null;

  constructor(options: HostedOptions) {
    this.#options = options;
  }

  async begin(mcpServers: number): Promise<{ sessionId: string }> {
    if (mcpServers > 0) this.#options.note("The editor's MCP servers are not forwarded: the agent runs elsewhere.");
    const { conversation } = this.#options.reset ? await this.#options.agent.reset() : await this.#options.agent.get();
    return { sessionId: sessionIdOf(conversation) };
  }

  async resume(sessionId: string): Promise<Record<string, never>> {
    await this.#require(sessionId);
    return {};
  }

  /** Replays the conversation. Follows a running turn to its end. */
  async load(sessionId: string, client: AgentContext): Promise<Record<string, never>> {
    const conversation = await this.#require(sessionId);
    for (const turn of await this.#past(conversation)) {
      const show = (update: SessionUpdate) => client.notify(methods.client.session.update, { sessionId, update });
      await show(userMessage(shownMessage(turn)));
      const shown = this.#replay(turn.id, show);
      if (turn.finishedAt !== null) await shown;
      // The editor's request is answered now; the rest follows as it arrives.
      else shown.catch((error: Error) => this.#options.gone.aborted || this.#options.note(error.message));
    }
    return {};
  }

  async #replay(turnId: string, show: (update: SessionUpdate) => Promise<void>): Promise<void> {
    const last = await this.#follow(this.#options.agent.reply(turnId, { include, signal: this.#options.gone }), show);
    if (last?.type === "response.failed") await show(remark(`The turn failed: ${last.error.message}`));
  }

  async list(cwd: string) {
    const { agent } = this.#options;
    const { data } = await agent.conversations.list().take(listedSessions);
    const sessions = data.map(({ id, title, createdAt, lastTurnAt }) => ({
      sessionId: sessionIdOf(id),
      cwd,
      title: title ?? agent.name,
      updatedAt: lastTurnAt ?? createdAt,
    }));
    return { sessions };
  }

  async prompt(sessionId: string, prompt: readonly ContentBlock[], client: AgentContext): Promise<PromptResponse> {
    const conversation = await this.#named(await this.#require(sessionId));
    const message = await contentOfPrompt(this.#options.agent, prompt);
    const onBroken = () => this.#options.note("The connection was lost; reconnecting.");
    const reply = this.#options.agent.chat(message, {
      include,
      conversation,
      onBroken,
      signal: this.#options.gone,
      whenBusy: "queue",
    });
    const show = (update: SessionUpdate) => client.notify(methods.client.session.update, { sessionId, update });
    const last = await this.#follow(reply, show, (request) => {
      this.#decide(reply, request, { client, sessionId }).catch((error: Error) => this.#options.note(error.message));
    });
    if (last) void reportSeen(this.#options.agent.name, reply, last);
    if (last?.type === "response.cancelled") return { stopReason: "cancelled" };
    if (last?.type !== "response.failed") return { stopReason: "end_turn" };
    throw new RequestError(internalError, last.error.message, { code: last.error.code });
  }

  /** Interrupts the current turn; its last event follows. */
  async cancel(): Promise<void> {
    await this.#reply?.cancel().catch((error: Error) => this.#options.note(error.message));
  }

  /** Asks the editor, and passes its answer on. Another's answer wins if it comes first. */
  async #decide(
    reply: Reply,
    { id, toolCallId, title, input }: ApprovalRequest,
    { client, sessionId }: { client: AgentContext; sessionId: string },
  ): Promise<void> {
    const params: RequestPermissionRequest = {
      sessionId,
      toolCall: { toolCallId: toolCallId ?? id, title, rawInput: input },
      options: permissionOptions.map(({ decision: _, ...option }) => option),
    };
    const { outcome } = await client.request(methods.client.session.requestPermission, params);
    if (outcome.outcome !== "selected") return;
    const { decision } =
      permissionOptions.find(({ optionId }) => optionId === outcome.optionId) ?? permissionOptions[2];
    const turnId = await reply.turnId;
    await this.#options.agent.approvals.answer(turnId, id, { decision }).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.statusCode === 409)) throw error;
    });
  }

  async #follow(
    reply: Reply,
    show: (update: SessionUpdate) => Promise<void>,
    ask: (request: ApprovalRequest) => void = () => {},
  ) {
    this.#reply = reply;
    try {
      for await (const event of reply) {
        const update = updateOf(event);
        if (update) await show(update);
        if (event.type === "response.approval.requested") ask(event);
        if (isLast(event)) return event;
      }
      return null;
    } finally {
      if (this.#reply === reply) this.#reply = null;
    }
  }

  /** The conversation's last turns, the oldest first; none for a key that may not list them. */
  async #past(conversation: number): Promise<Turn[]> {
    const found: Turn[] = [];
    try {
      for await (const turn of this.#options.agent.turns({ conversation })) {
        if (found.length >= replayedTurns) break;
        found.unshift(turn);
      }
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "forbidden")) throw error;
      this.#options.note("This key may not read the conversation, so it is not shown.");
    }
    return found;
  }

  /** The number of the session's conversation. Throws if the agent has no such conversation. */
  async #require(sessionId: string): Promise<number> {
    const number = numberOf(sessionId);
    if (number !== null && ((await this.#named(number)) !== undefined || (await this.#current()) === number))
      return number;
    throw RequestError.resourceNotFound(`${sessionId}: the agent has no such conversation; start a new session`);
  }

  /** The number as a message names it; undefined for a conversation that the key may not name: the current one. */
  async #named(number: number): Promise<number | undefined> {
    try {
      return (await this.#options.agent.conversations.get(String(number))).id;
    } catch (error) {
      if (error instanceof ApiError && error.code === "conversation_not_found") return undefined;
      throw error;
    }
  }

  async #current(): Promise<number> {
    return (await this.#options.agent.get()).conversation;
  }
}

const internalError = -32_603;

const permissionOptions = [
  { optionId: "allow", kind: "allow_once", name: "Allow", decision: "allow" },
  { optionId: "allow-always", kind: "allow_always", name: "Always allow this", decision: "allow-always" },
  { optionId: "deny", kind: "reject_once", name: "Deny", decision: "deny" },
] as const;

/** A turn's message, with the names of its images and files. */
function shownMessage({ message, attachments }: Turn): string {
  return [message, ...attachments.map(({ name }) => `[${name}]`)].filter((part) => part !== "").join("\n");
}

function sessionIdOf(conversation: number): string {
  return `conversation-${conversation}`;
}

/** Null for a text that is no session's id. */
function numberOf(sessionId: string): number | null {
  const [, number] = /^conversation-([1-9]\d{0,8})$/.exec(sessionId) ?? [];
  return number === undefined ? null : Number(number);
}

/** The result, or the service's refusal as an error of the protocol. */
async function told<Result>(result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (!(error instanceof ApiError)) throw new RequestError(internalError, error.message);
    const { code, message } = error;
    if (error.statusCode === 401) throw RequestError.authRequired({ code }, `${message} Sign in with: berth login`);
    if (code === "agent_not_found") throw RequestError.invalidParams({ code }, message);
    throw new RequestError(internalError, message, { code });
  }
}
