import type { Author, Fault, PlanStep, TurnEvent, Usage } from "@berth/client";
import { isRunning } from "./tool-groups.ts";

/** A tool call of the runtime. Calls of earlier versions have no times. In milliseconds since 1970. */
export interface ToolPart {
  kind: "tool";
  id: string;
  /** The runtime's own, such as `Bash`. */
  name: string;
  title: string;
  /** `stopped`: the turn ended before it did. */
  status: string;
  input: unknown;
  output: unknown;
  startedAt: number | null;
  endedAt: number | null;
}

/** A call of a function that the turn's client carries out. */
export interface FunctionPart {
  kind: "function";
  callId: string;
  name: string;
  /** JSON. */
  arguments: string;
  /** The runtime's tool call that it is; null: not known. */
  toolId: string | null;
  isWaiting: boolean;
  output: unknown;
}

type ApprovalRequest = Extract<TurnEvent, { type: "response.approval.requested" }>;

/** A use of a tool that a person allows or denies. `closed`: the turn ended without an answer. */
export interface ApprovalPart {
  kind: "approval";
  request: ApprovalRequest;
  status: "open" | "allow" | "allow-always" | "deny" | "closed";
}

/** The agent's list of the steps of its work, where it was first made, as it was last changed. */
interface PlanPart {
  kind: "plan";
  steps: readonly PlanStep[];
}

/** A piece of a reply, in the order in which it was said. */
export type Part =
  | { kind: "text" | "reasoning" | "warning"; text: string }
  | { kind: "message"; text: string; createdBy: Author | null }
  | { kind: "output"; value: object }
  | PlanPart
  | ToolPart
  | FunctionPart
  | ApprovalPart;

export type Phase =
  | { name: "sent" }
  | { name: "queued"; position: number }
  | { name: "working"; wakeMs: number }
  | { name: "completed" | "cancelled" }
  | { name: "failed"; code: string; message: string; limit: string | null };

/** A turn as far as its events have come. */
export interface TurnState {
  phase: Phase;
  parts: readonly Part[];
  usage: Usage | null;
}

export const emptyTurn: TurnState = { phase: { name: "sent" }, parts: [], usage: null };

/** Whether a turn in this phase has ended. */
export function isOver({ name }: Phase): boolean {
  return name === "completed" || name === "failed" || name === "cancelled";
}

/** The state after an event. Events that are not known change nothing. */
export function reduceTurn(state: TurnState, event: TurnEvent): TurnState {
  switch (event.type) {
    case "response.queued":
      // A turn is shown when it no longer waits for the one before.
      return event.for === "turn" ? state : { ...state, phase: { name: "queued", position: event.position } };
    case "response.in_progress":
      return { ...state, phase: { name: "working", wakeMs: event.wakeMs } };
    case "response.output_text.delta":
      return { ...state, parts: withText(state.parts, "text", event.delta) };
    case "response.reasoning_text.delta":
      return { ...state, parts: withText(state.parts, "reasoning", event.delta) };
    case "response.tool_call.started":
    case "response.tool_call.updated":
    case "response.tool_call.completed":
      return { ...state, parts: withTool(state.parts, event) };
    case "response.function_call":
      return { ...state, parts: withFunction(state.parts, event) };
    case "response.approval.requested":
      return { ...state, parts: [...state.parts, { kind: "approval", request: event, status: "open" }] };
    case "response.approval.resolved":
      return { ...state, parts: resolved(state.parts, event.id, event.decision ?? "closed") };
    case "response.plan.updated":
      return { ...state, parts: withPlan(state.parts, event.steps) };
    case "response.steered":
      return {
        ...state,
        parts: [...state.parts, { kind: "message", text: event.message, createdBy: event.createdBy ?? null }],
      };
    case "response.warning":
      return { ...state, parts: [...state.parts, { kind: "warning", text: event.message }] };
    case "response.completed":
    case "response.cancelled": {
      const isWhole = event.type === "response.completed";
      const output: Part[] = isWhole && event.output ? [{ kind: "output", value: event.output }] : [];
      const parts = [...state.parts, ...output];
      return ended({ ...state, parts }, { name: isWhole ? "completed" : "cancelled" }, event.usage);
    }
    case "response.failed":
      return ended(state, failedPhase(event.error), event.usage);
    default:
      return state;
  }
}

/** `limit`: the one that was reached; null: the reason is another. */
export function failedPhase(error: Fault | null): Phase {
  const { code = "", message = "", details } = error ?? {};
  return { name: "failed", code, message, limit: details && "reason" in details ? details.reason : null };
}

function ended({ parts, usage }: TurnState, phase: Phase, last: Usage | undefined): TurnState {
  return { phase, parts: stopped(resolved(noneWaiting(parts), null, "closed")), usage: last ?? usage };
}

/** Calls that a turn's end has cut off. */
function stopped(parts: readonly Part[]): Part[] {
  return parts.map((part) => (part.kind === "tool" && isRunning(part) ? { ...part, status: "stopped" } : part));
}

/** Sets the status of an open approval; `id`: null for all. */
function resolved(parts: readonly Part[], id: string | null, status: ApprovalPart["status"]): Part[] {
  return parts.map((part) =>
    part.kind === "approval" && part.status === "open" && (id === null || part.request.id === id)
      ? { ...part, status }
      : part,
  );
}

function withText(before: readonly Part[], kind: "text" | "reasoning", delta: string): Part[] {
  const parts = noneWaiting(before); // An agent that speaks has what it waited for.
  const last = parts.at(-1);
  if (last?.kind === kind) return [...parts.slice(0, -1), { kind, text: last.text + delta }];
  return [...parts, { kind, text: delta }];
}

function withPlan(parts: readonly Part[], steps: readonly PlanStep[]): Part[] {
  const at = parts.findIndex(({ kind }) => kind === "plan");
  const plan: PlanPart = { kind: "plan", steps };
  return at < 0 ? [...parts, plan] : parts.with(at, plan);
}

type ToolEvent = Extract<
  TurnEvent,
  { type: "response.tool_call.started" | "response.tool_call.updated" | "response.tool_call.completed" }
>;

function withTool(parts: readonly Part[], event: ToolEvent): readonly Part[] {
  const call = parts.findLastIndex(
    (part) => part.kind === "function" && (part.toolId === event.id || (part.toolId === null && isCallOf(part, event))),
  );
  if (call >= 0) {
    const part = parts[call] as FunctionPart;
    const isWaiting = part.isWaiting && event.type !== "response.tool_call.completed";
    return parts.with(call, { ...part, toolId: event.id, isWaiting, output: event.output ?? part.output });
  }
  const at = parts.findLastIndex((part) => part.kind === "tool" && part.id === event.id);
  const before = parts[at] as ToolPart | undefined;
  const isEnd = event.type === "response.tool_call.completed";
  const after: ToolPart = {
    kind: "tool",
    id: event.id,
    name: event.name ?? before?.name ?? "",
    title: event.title ?? event.name ?? before?.title ?? "tool",
    status: event.status ?? (isEnd ? "completed" : (before?.status ?? "in_progress")),
    input: event.input ?? before?.input,
    output: event.output ?? before?.output,
    startedAt: before ? before.startedAt : timeOf(event),
    endedAt: isEnd ? timeOf(event) : (before?.endedAt ?? null),
  };
  return before ? parts.with(at, after) : [...parts, after];
}

function timeOf({ at }: ToolEvent): number | null {
  return at === undefined ? null : Date.parse(at);
}

/** Takes the place of the runtime's tool call that it is. One call waits at a time. */
function withFunction(
  before: readonly Part[],
  { callId, name, arguments: json }: Extract<TurnEvent, { type: "response.function_call" }>,
): Part[] {
  const parts = noneWaiting(before);
  const at = parts.findIndex(
    (part) => part.kind === "tool" && part.status === "in_progress" && isCallOf({ name }, part),
  );
  const tool = parts[at] as ToolPart | undefined;
  const call: FunctionPart = {
    kind: "function",
    callId,
    name,
    arguments: json,
    toolId: tool?.id ?? null,
    isWaiting: true,
    output: undefined,
  };
  return tool ? parts.with(at, call) : [...parts, call];
}

/** Runtimes call a client's tool by its server's name and its own. */
function isCallOf(
  { name }: { name: string },
  tool: { name?: string | undefined; title?: string | undefined },
): boolean {
  return [tool.name, tool.title].some((each) => each?.endsWith(`client_${name}`) || each?.endsWith(`client__${name}`));
}

function noneWaiting(parts: readonly Part[]): Part[] {
  return parts.map((part) => (part.kind === "function" && part.isWaiting ? { ...part, isWaiting: false } : part));
}
