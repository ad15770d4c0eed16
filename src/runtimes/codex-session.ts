import type { ChildProcess } from "node:child_process";
import { z } from "zod";
import type { LastEvent, TurnEvent } from "../contract/chat.ts";
import { nearestEffort } from "../contract/effort.ts";
import type { Approvals } from "./approvals.ts";
import { commandUse, fileUses, ItemNotification, mcpUse, toolEvent, toolIn } from "./codex-items.ts";
import type { CodexServer } from "./codex-server.ts";
import { planEvent } from "./plan.ts";
import { killTree } from "./process.ts";
import type { Prompt, Session } from "./runtime.ts";

/** How long Codex may take to end a cancelled turn before its process is killed. */
const cancelGraceMs = 5_000;

/** The most tool calls of a turn that are remembered until they end. */
const maximumItems = 1_000;

/** A running Codex, and how it opens a thread. */
export interface CodexProcess {
  server: CodexServer;
  child: ChildProcess;
  ended: Promise<void>;
  /** Opens the thread with this id, or a new one. Returns its id. */
  open(id: string | null): Promise<string>;
}

export class CodexSession implements Session {
  id: string;
  readonly ended: Promise<void>;
  readonly #process: CodexProcess;
  /** The turn that runs, as Codex names it. */
  #turnId: string | null = null;

  constructor(process: CodexProcess, id: string) {
    this.#process = process;
    this.ended = process.ended;
    this.id = id;
  }

  async prompt(prompt: Prompt, emit: (event: TurnEvent) => void, signal: AbortSignal): Promise<LastEvent> {
    if (signal.aborted) return { type: "response.cancelled" };
    const reader = new TurnReader(this.id, emit);
    const unsubscribe = this.#process.server.subscribe((method, params) => reader.take(method, params));
    let graceTimer: NodeJS.Timeout | undefined;
    const cancel = () => {
      graceTimer = setTimeout(() => this.stop(), cancelGraceMs);
      void this.#interrupt();
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      this.#turnId = await this.#begin(prompt);
      if (signal.aborted) void this.#interrupt();
      const end = await Promise.race([reader.end, this.ended]);
      if (!end) return failed("Codex ended during the turn.");
      if (signal.aborted) await this.#endCommands();
      return lastEventOf(end, signal);
    } catch (error) {
      return signal.aborted ? { type: "response.cancelled" } : failed((error as Error).message);
    } finally {
      this.#turnId = null;
      clearTimeout(graceTimer);
      signal.removeEventListener("abort", cancel);
      unsubscribe();
    }
  }

  async #begin({ message, model, effort, images = [] }: Prompt): Promise<string> {
    const pictures = images.map(({ mediaType, data }) => ({ type: "image", url: `data:${mediaType};base64,${data}` }));
    const { turn } = Started.parse(
      await this.#process.server.request("turn/start", {
        threadId: this.id,
        input: [textInput(message), ...pictures],
        model: nameOf(model),
        // Null would keep the last turn's.
        effort: nearestEffort(effort ?? usualEffort, levels),
      }),
    );
    return turn.id;
  }

  async #interrupt(): Promise<void> {
    if (this.#turnId === null) return; // It is interrupted as soon as it has begun.
    const turn = { threadId: this.id, turnId: this.#turnId };
    await this.#process.server.request("turn/interrupt", turn).catch(() => {});
  }

  /** An interrupted turn leaves its commands running. */
  async #endCommands(): Promise<void> {
    await this.#process.server.request("thread/backgroundTerminals/clean", { threadId: this.id }).catch(() => {});
  }

  async steer(message: string): Promise<boolean> {
    if (this.#turnId === null) return false;
    const turn = { threadId: this.id, expectedTurnId: this.#turnId };
    return this.#process.server.request("turn/steer", { ...turn, input: [textInput(message)] }).then(
      () => true,
      () => false, // It has just ended.
    );
  }

  async enter(id: string | null): Promise<void> {
    const former = this.id;
    this.id = await this.#process.open(id);
    // Ends the former thread's MCP servers.
    if (this.id !== former) await this.#process.server.request("thread/unsubscribe", { threadId: former });
  }

  stop(): void {
    killTree(this.#process.child);
  }
}

/** The levels of OpenAI's API. */
const levels = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
const usualEffort = "medium";

const Started = z.object({ turn: z.object({ id: z.string() }) });

function textInput(text: string) {
  return { type: "text", text, text_elements: [] };
}

/** The demonstration model answers to any name. */
function nameOf(model: string | null): string {
  return model?.startsWith("openai/") ? model.slice("openai/".length) : "demo";
}

const Delta = z.object({ threadId: z.string(), itemId: z.string(), delta: z.string() });
const planStatuses = { pending: "pending", inProgress: "in_progress", completed: "completed" } as const;
const Plan = z.object({
  threadId: z.string(),
  plan: z.array(z.object({ step: z.string(), status: z.enum(["pending", "inProgress", "completed"]) })),
});
const Ended = z.object({
  threadId: z.string(),
  turn: z.object({ status: z.string(), error: z.object({ message: z.string() }).nullish() }),
});
type End = z.infer<typeof Ended>["turn"];

/** In characters. A command that is complete is reported with all of its output. */
const keptOutput = 50_000;

/** Converts the notifications of a turn to events. */
export class TurnReader {
  readonly #threadId: string;
  readonly #emit: (event: TurnEvent) => void;
  readonly #ended = Promise.withResolvers<End>();
  /** The message whose text was emitted last. */
  #said: string | null = null;
  /** The end of what the command that printed last has printed. */
  #output: { id: string; text: string } | null = null;

  constructor(threadId: string, emit: (event: TurnEvent) => void) {
    this.#threadId = threadId;
    this.#emit = emit;
  }

  get end(): Promise<End> {
    return this.#ended.promise;
  }

  take(method: string, params: unknown): void {
    switch (method) {
      case "item/agentMessage/delta":
        this.#takeText(Delta.safeParse(params).data);
        break;
      case "item/reasoning/textDelta":
      case "item/reasoning/summaryTextDelta": {
        const thought = Delta.safeParse(params).data;
        const isOurs = thought?.threadId === this.#threadId && thought.delta !== "";
        if (isOurs) this.#emit({ type: "response.reasoning_text.delta", delta: thought.delta });
        break;
      }
      case "item/commandExecution/outputDelta":
        this.#takeOutput(Delta.safeParse(params).data);
        break;
      case "item/started":
      case "item/completed":
        this.#takeItem(params, method === "item/completed");
        break;
      case "turn/plan/updated":
        this.#takePlan(Plan.safeParse(params).data);
        break;
      case "turn/completed": {
        const end = Ended.safeParse(params).data;
        if (end?.threadId === this.#threadId) this.#ended.resolve(end.turn);
      }
    }
  }

  #takeText(text: z.infer<typeof Delta> | undefined): void {
    if (text?.threadId !== this.#threadId || text.delta === "") return;
    // Separates the model's messages before and after a tool.
    const gap = this.#said !== null && this.#said !== text.itemId ? "\n\n" : "";
    this.#said = text.itemId;
    this.#emit({ type: "response.output_text.delta", delta: gap + text.delta });
  }

  #takeOutput(more: z.infer<typeof Delta> | undefined): void {
    if (more?.threadId !== this.#threadId || more.delta === "") return;
    const before = this.#output?.id === more.itemId ? this.#output.text : "";
    this.#output = { id: more.itemId, text: (before + more.delta).slice(-keptOutput) };
    this.#emit({ type: "response.tool_call.updated", id: more.itemId, output: this.#output.text });
  }

  #takePlan(plan: z.infer<typeof Plan> | undefined): void {
    if (plan?.threadId !== this.#threadId) return;
    this.#emit(planEvent(plan.plan.map(({ step, status }) => ({ text: step, status: planStatuses[status] }))));
  }

  #takeItem(params: unknown, isComplete: boolean): void {
    const notification = ItemNotification.safeParse(params).data;
    if (notification?.threadId !== this.#threadId) return;
    const tool = toolIn(notification.item);
    if (tool) this.#emit(toolEvent(tool, isComplete));
  }
}

function lastEventOf({ status, error }: End, signal: AbortSignal): LastEvent {
  if (signal.aborted) return { type: "response.cancelled" };
  if (status === "completed") return { type: "response.completed" };
  return failed(error?.message ?? "The runtime interrupted the turn itself.");
}

function failed(message: string): LastEvent {
  return { type: "response.failed", error: { code: "runtime_failed", message } };
}

/** Answers what Codex asks before it uses a tool. */
export class CodexApprovals {
  readonly #approvals: Approvals;
  /** The patches and calls that have begun: a request names only their id. */
  readonly #items = new Map<string, ReturnType<typeof toolIn>>();

  constructor(approvals: Approvals) {
    this.#approvals = approvals;
  }

  saw(method: string, params: unknown): void {
    if (method !== "item/started" && method !== "item/completed") return;
    const item = ItemNotification.safeParse(params).data?.item;
    if (!item) return;
    if (method === "item/completed") this.#items.delete(item.id);
    else if (this.#items.size < maximumItems) this.#items.set(item.id, toolIn(item));
  }

  /** The result of a request; null for one that Codex must do without. */
  async answer(method: string, params: unknown): Promise<object | null> {
    switch (method) {
      case "item/commandExecution/requestApproval":
        return decided(await this.#approvals.mayUse(commandUse(params)));
      case "item/fileChange/requestApproval":
        return decided(await this.#mayChange(params));
      case "mcpServer/elicitation/request": {
        const use = mcpUse(params);
        const isAllowed =
          use !== null && (await this.#approvals.mayUse({ ...use, toolCallId: this.#callOf(use.tool!) }));
        return { action: isAllowed ? "accept" : "decline", content: isAllowed ? {} : null, _meta: null };
      }
      default:
        return null;
    }
  }

  async #mayChange(params: unknown): Promise<boolean> {
    const { itemId } = z.object({ itemId: z.string() }).parse(params);
    const uses = fileUses(this.#items.get(itemId));
    for (const use of uses) if (!(await this.#approvals.mayUse(use))) return false;
    return uses.length > 0;
  }

  #callOf(tool: string): string | null {
    const calls = [...this.#items.values()];
    return (
      calls.findLast((item) => item?.type === "mcpToolCall" && `mcp__${item.server}__${item.tool}` === tool)?.id ?? null
    );
  }
}

function decided(isAllowed: boolean): object {
  return { decision: isAllowed ? "accept" : "decline" };
}
