import { posix } from "node:path";
import { z } from "zod";
import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import type { Effort } from "../contract/effort.ts";
import { BerthError } from "../contract/errors.ts";
import type { PermissionKind } from "../contract/permissions.ts";
import type { ProposedUse } from "./approvals.ts";
import { asText } from "./message-text.ts";
import { ownToOpenAi } from "./opencode.ts";
import { approvalTitle, type PiModel } from "./pi-extension.ts";
import type { PiProcess, PiRecord } from "./pi-process.ts";
import { killTree } from "./process.ts";
import type { Prompt, Session } from "./runtime.ts";

/** How long pi may take to end a cancelled turn before its process is killed. */
const cancelGraceMs = 5_000;

export class PiSession implements Session {
  id: string;
  readonly #pi: PiProcess;
  readonly #fileOf: (id: string) => Promise<string | null>;
  /** Null if unknown: a session has the model and level that it was left with. */
  #choice: Pick<Prompt, "model" | "effort"> | null = null;
  #isRunning = false;

  /** `fileOf` returns the file of the session with this id; null: there is none. */
  constructor(pi: PiProcess, id: string, fileOf: (id: string) => Promise<string | null>) {
    this.#pi = pi;
    this.id = id;
    this.#fileOf = fileOf;
  }

  get ended(): Promise<void> {
    return this.#pi.ended;
  }

  async prompt(prompt: Prompt, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent> {
    const reader = new TurnReader(emit);
    const unsubscribe = this.#pi.subscribe((record) => reader.take(record));
    let graceTimer: NodeJS.Timeout | undefined;
    const cancel = () => {
      graceTimer = setTimeout(() => this.stop(), cancelGraceMs);
      void this.#interrupt();
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      if (!signal.aborted) await this.#choose(prompt);
      if (signal.aborted) return { type: "response.cancelled" };
      await this.#begin(prompt);
      if (signal.aborted) void this.#interrupt();
      const fault = await Promise.race([reader.end, this.ended.then(() => "pi ended during the turn.")]);
      if (signal.aborted) return { type: "response.cancelled" };
      return fault === null ? { type: "response.completed" } : failed(fault);
    } catch (error) {
      if (signal.aborted) return { type: "response.cancelled" };
      const code = error instanceof BerthError ? error.code : "runtime_failed";
      return { type: "response.failed", error: { code, message: (error as Error).message } };
    } finally {
      this.#isRunning = false;
      clearTimeout(graceTimer);
      signal.removeEventListener("abort", cancel);
      unsubscribe();
    }
  }

  async #begin({ message, images = [] }: Prompt): Promise<void> {
    const pictures = images.map(({ mediaType, data }) => ({ type: "image", data, mimeType: mediaType }));
    await this.#pi.request({ type: "prompt", message: asText(message), images: pictures });
    this.#isRunning = true;
  }

  /** An aborted run would continue with messages that wait. */
  async #interrupt(): Promise<void> {
    if (!this.#isRunning) return; // It is interrupted as soon as it has begun.
    for (const type of ["clear_queue", "abort"]) await this.#pi.request({ type }).catch(() => {});
  }

  /** Throws `model_not_available`. */
  async #choose({ model, effort = null }: Prompt): Promise<void> {
    if (model === this.#choice?.model && effort === this.#choice.effort) return;
    this.#choice = null;
    const choice = modelOf(model);
    await this.#pi.request({ type: "prompt", message: `/berth-model ${JSON.stringify(choice)}` });
    const chosen = (await stateOf(this.#pi)).model?.id;
    if (chosen !== choice.name)
      throw new BerthError("model_not_available", `pi cannot use the model ${choice.name}. It uses ${chosen}.`);
    // It uses the nearest level that the model has.
    await this.#pi.request({ type: "set_thinking_level", level: levelOf(effort) });
    this.#choice = { model, effort };
  }

  async steer(message: string): Promise<boolean> {
    if (!this.#isRunning) return false;
    await this.#pi.request({ type: "steer", message: asText(message) });
    return true;
  }

  async enter(id: string | null): Promise<void> {
    const file = id === null ? null : await this.#fileOf(id);
    await this.#pi.request(file === null ? { type: "new_session" } : { type: "switch_session", sessionPath: file });
    this.id = (await stateOf(this.#pi)).sessionId;
    this.#choice = null;
  }

  stop(): void {
    killTree(this.#pi.child);
  }
}

/** pi's level; without an effort its own default. */
function levelOf(effort: Effort | null): string {
  if (effort === null) return "medium";
  return effort === "none" ? "off" : effort;
}

const State = z.object({ sessionId: z.string(), model: z.object({ id: z.string() }).nullish() });

export async function stateOf(pi: PiProcess): Promise<z.infer<typeof State>> {
  return State.parse(await pi.request({ type: "get_state" }));
}

/** How pi requests one of Berth's models. The demonstration model answers to any name. */
function modelOf(model: string | null): PiModel {
  if (model === null || model === "demo/demo")
    return { provider: "anthropic", api: "anthropic-messages", name: "demo" };
  const [provider, ...rest] = model.split("/") as [string, ...string[]];
  const name = rest.join("/");
  if (provider === "anthropic") return { provider, api: "anthropic-messages", name };
  return { provider: "openai", api: ownToOpenAi.test(name) ? "openai-responses" : "openai-completions", name };
}

function failed(message: string): LastEvent {
  return { type: "response.failed", error: { code: "runtime_failed", message } };
}

const Tool = z.object({ toolCallId: z.string(), toolName: z.string() });
const Started = Tool.extend({ args: z.unknown() });
const Update = Tool.extend({ partialResult: z.unknown() });
const Ended = Tool.extend({ result: z.unknown(), isError: z.boolean() });
const Delta = z.object({ assistantMessageEvent: z.object({ type: z.string(), delta: z.string() }) });
const Message = z.object({
  message: z.object({ role: z.string(), stopReason: z.string().optional(), errorMessage: z.string().optional() }),
});

/** Converts the records of a turn to events. */
class TurnReader {
  readonly #emit: (event: TurnEvent) => void;
  readonly #ended = Promise.withResolvers<string | null>();
  /** Whether the next text continues the one before; null: there is none before. */
  #continues: boolean | null = null;
  /** Why the model's last message is incomplete; null: it is not. */
  #fault: string | null = null;

  constructor(emit: (event: TurnEvent) => void) {
    this.#emit = emit;
  }

  /** Resolves at the end of the turn with the reason if it failed. */
  get end(): Promise<string | null> {
    return this.#ended.promise;
  }

  take(record: PiRecord): void {
    switch (record.type) {
      case "message_update":
        this.#takeDelta(Delta.safeParse(record).data);
        break;
      case "message_end": {
        const message = Message.safeParse(record).data?.message;
        if (message?.role !== "assistant") break;
        if (this.#continues !== null) this.#continues = false;
        this.#fault = message.stopReason === "error" ? (message.errorMessage ?? "The model's answer broke off.") : null;
        break;
      }
      case "tool_execution_start":
      case "tool_execution_update":
      case "tool_execution_end": {
        const event = toolEvent(record);
        if (event) this.#emit(event);
        break;
      }
      case "agent_settled":
        this.#ended.resolve(this.#fault);
    }
  }

  #takeDelta(update: z.infer<typeof Delta> | undefined): void {
    const { type, delta } = update?.assistantMessageEvent ?? {};
    if (!delta) return;
    if (type === "thinking_delta") this.#emit({ type: "response.reasoning_text.delta", delta });
    if (type !== "text_delta") return;
    // Separates the model's messages before and after a tool.
    this.#emit({ type: "response.output_text.delta", delta: this.#continues === false ? `\n\n${delta}` : delta });
    this.#continues = true;
  }
}

function toolEvent(record: PiRecord): TurnEvent | null {
  const started = Started.safeParse(record).data;
  if (record.type === "tool_execution_start" && started) {
    const { toolCallId: id, toolName: name, args: input } = started;
    return { type: "response.tool_call.started", id, name, status: "in_progress", input };
  }
  const update = Update.safeParse(record).data;
  if (record.type === "tool_execution_update" && update)
    return { type: "response.tool_call.updated", id: update.toolCallId, output: update.partialResult };
  const ended = Ended.safeParse(record).data;
  if (record.type === "tool_execution_end" && ended) {
    const { toolCallId: id, toolName: name, isError, result } = ended;
    return { type: "response.tool_call.completed", id, name, status: isError ? "failed" : "completed", output: result };
  }
  return null;
}

const Call = z.object({ toolCallId: z.string(), toolName: z.string(), input: z.unknown() });
/** A record that pi waits for an answer to: of Berth's extension, or of an MCP server that asks its user for something. */
const Question = z.object({
  type: z.literal("extension_ui_request"),
  id: z.string(),
  method: z.enum(["input", "select", "confirm", "editor"]),
  title: z.string().optional(),
  placeholder: z.string().optional(),
});

/** The id of a record that waits for an answer, and the use of a tool that it asks about, if it does. */
export function questionIn(
  record: PiRecord,
  servers: readonly string[],
  home: string,
): { id: string; use: ProposedUse | null } | null {
  const question = Question.safeParse(record).data;
  if (!question) return null;
  const call = question.title === approvalTitle ? Call.safeParse(parsed(question.placeholder)).data : undefined;
  return { id: question.id, use: call ? useOf(call, servers, home) : null };
}

function parsed(text = ""): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function useOf(
  { toolCallId, toolName: tool, input }: z.infer<typeof Call>,
  servers: readonly string[],
  home: string,
): ProposedUse {
  const mcpTool = mcpToolOf(tool, servers);
  const kind: PermissionKind = mcpTool === null ? (kinds[tool] ?? "other") : "mcp";
  const subject = mcpTool ?? subjectOf(kind, tool, input, home);
  return { kind, subject, title: titleOf(kind, tool, subject), tool, toolCallId, input, diff: null };
}

const kinds: Record<string, PermissionKind> = {
  bash: "execute",
  edit: "edit",
  write: "edit",
  read: "read",
  grep: "read",
  find: "read",
  ls: "read",
};

/** `server/tool`; null if the tool is not of an MCP server. In pi's names, hyphens are underscores. */
function mcpToolOf(name: string, servers: readonly string[]): string | null {
  const [prefix, known, ...rest] = name.split("__");
  if (prefix !== "mcp" || !known || rest.length === 0) return null;
  const server = servers.find((each) => each.replaceAll("-", "_") === known) ?? known;
  return `${server}/${rest.join("__")}`;
}

function subjectOf(kind: PermissionKind, tool: string, input: unknown, home: string): string | null {
  const { command, path } = Fields.safeParse(input).data ?? {};
  if (kind === "execute") return command ?? null;
  if (kind === "edit" || kind === "read") return posix.resolve(home, path ?? ".");
  return tool;
}

const Fields = z.object({ command: z.string().optional(), path: z.string().optional() });

function titleOf(kind: PermissionKind, tool: string, subject: string | null): string {
  if (subject === null || subject === tool) return tool;
  return kind === "execute" ? subject : `${tool}: ${subject}`;
}
