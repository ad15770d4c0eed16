import { createHash } from "node:crypto";
import type { Fault } from "../contract/agents.ts";
import { isToolCall, type ToolCallEvent, type TurnEvent } from "../contract/chat.ts";
import type { LimitDetails, LimitReason, Limits, Warning } from "../contract/limits.ts";

/** The part of a limit after which its turn is warned. */
const warnedPart = 0.8;
/** How many equal tool calls in a row are a warning. */
const repetitions = 5;
/** How many open tool calls are compared with others. */
const maximumCompared = 100;
const minuteMs = 60_000;

/** The counts of a turn that an earlier server started. */
export interface LimitProgress {
  /** The tool calls that have started. */
  toolCalls: number;
  /** The limits that the turn was warned of. */
  warned: Iterable<LimitReason>;
  /** How long it has run without the time that it waited for approvals, in milliseconds. */
  activeMs: number;
}

interface LimitHooks {
  warn: (warning: Warning) => void;
  stop: (fault: Fault) => void;
}

/**
 * Stops a turn at its limits of time and tool calls, and warns of them. Its credits are checked by each model call
 * (`LedgerStore.hold`).
 */
export class TurnLimits implements Disposable {
  readonly #limits: Limits;
  readonly #hooks: LimitHooks;
  readonly #warned: Set<LimitReason>;
  #toolCalls: number;
  /** The last form of each open tool call. */
  readonly #open = new Map<string, Pick<ToolCallEvent, "name" | "input">>();
  #last = { hash: "", count: 0 };
  /** Up to `#since`. */
  #activeMs: number;
  /** In milliseconds of `performance.now`; null before `setWaiting`, and while the turn waits. */
  #since: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Limits, { toolCalls, warned, activeMs }: LimitProgress, hooks: LimitHooks) {
    this.#limits = limits;
    this.#hooks = hooks;
    this.#warned = new Set(warned);
    this.#toolCalls = toolCalls;
    this.#activeMs = activeMs;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  /** Warns of a limit, once. */
  warn(warning: Warning & { reason: LimitReason }): void {
    if (this.#warned.has(warning.reason)) return;
    this.#warned.add(warning.reason);
    this.#hooks.warn(warning);
  }

  /** Starts or stops the clock: the time in which the turn waits for approvals does not count. */
  setWaiting(waits: boolean): void {
    if (waits === (this.#since === null)) return;
    this.#activeMs = this.#usedMs();
    this.#since = waits ? null : performance.now();
    this.#watchTime();
  }

  saw(event: TurnEvent): void {
    if (!isToolCall(event)) return;
    if (event.type === "response.tool_call.started") this.#countCall();
    this.#compare(event);
  }

  #countCall(): void {
    const used = ++this.#toolCalls;
    const { maxToolCalls: limit } = this.#limits;
    if (limit === null) return;
    if (used > limit) this.#stop({ reason: "tool_calls_limit", limit }, `${limit} tool calls (maxToolCalls)`);
    else if (used >= limit * warnedPart) {
      const message = `The turn has made ${used} of up to ${limit} tool calls (maxToolCalls).`;
      this.warn({ reason: "tool_calls_limit", limit, used, message });
    }
  }

  #usedMs(): number {
    return this.#activeMs + (this.#since === null ? 0 : performance.now() - this.#since);
  }

  #watchTime(): void {
    clearTimeout(this.#timer);
    const { maxMinutes: limit } = this.#limits;
    if (limit === null || this.#since === null) return;
    const used = this.#usedMs() / minuteMs;
    if (used >= limit) {
      this.#stop({ reason: "minutes_limit", limit }, `${limit} minutes (maxMinutes)`);
      return;
    }
    const isNear = used >= limit * warnedPart;
    if (isNear) {
      const minutes = Math.floor(used);
      const message = `The turn has run for ${minutes} of up to ${limit} minutes (maxMinutes).`;
      this.warn({ reason: "minutes_limit", limit, used: minutes, message });
    }
    const next = isNear ? limit : limit * warnedPart;
    this.#timer = setTimeout(() => this.#watchTime(), Math.ceil((next - used) * minuteMs));
  }

  #compare({ type, id, name, input }: ToolCallEvent): void {
    const known = this.#open.get(id);
    const call = { name: name ?? known?.name, input: input ?? known?.input };
    if (type !== "response.tool_call.completed") {
      if (known || this.#open.size < maximumCompared) this.#open.set(id, call);
      return;
    }
    this.#open.delete(id);
    const hash = createHash("sha256").update(JSON.stringify(call)).digest("base64");
    this.#last = { hash, count: hash === this.#last.hash ? this.#last.count + 1 : 1 };
    if (this.#last.count !== repetitions) return;
    const tool = (call.name ?? "a tool").slice(0, 100);
    const message = `The agent has called ${tool} ${repetitions} times in a row with the same input.`;
    this.#hooks.warn({ reason: "repeated_tool_call", used: repetitions, message });
  }

  #stop(details: LimitDetails, limit: string): void {
    const message = `The turn has reached its limit of ${limit}. Send another message to continue.`;
    this.#hooks.stop({ code: "limit_reached", message, details });
  }
}
