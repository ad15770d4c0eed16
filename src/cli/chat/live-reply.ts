import type { PlanStep, TurnEvent } from "@berth/client";
import { planText } from "../plan-text.ts";
import { queuedText } from "../reply-view.ts";
import { cut, printable } from "../terminal.ts";
import { renderMarkdown } from "./markdown.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";
import { type Line, plain } from "./styled-lines.ts";
import { type Entry, type ToolCall, toolLine } from "./transcript.ts";

/** A reply while it arrives: what is complete goes to `print`, the rest is drawn live. */
export class LiveReply {
  readonly #print: (entry: Entry) => void;
  readonly #text = new StreamedMarkdown();
  readonly #calls = new Map<string, ToolCall>();
  #plan: readonly PlanStep[] = [];
  /** The agent's activity, in a word or two. */
  phase = "sending";

  constructor(print: (entry: Entry) => void) {
    this.#print = print;
  }

  take(event: TurnEvent): void {
    switch (event.type) {
      case "response.created":
        this.phase = "waking";
        break;
      case "response.queued":
        this.phase = queuedText(event);
        break;
      case "response.in_progress":
        this.phase = "thinking";
        break;
      case "response.output_text.delta":
        this.phase = "writing";
        this.#text.add(event.delta);
        break;
      case "response.approval.requested":
        this.phase = "waiting for your answer";
        break;
      case "response.approval.resolved":
        this.phase = "working";
        break;
      case "response.tool_call.started":
      case "response.tool_call.updated":
      case "response.tool_call.completed":
        this.#takeCall(event);
        break;
      case "response.plan.updated":
        this.#plan = event.steps;
        break;
      default:
    }
  }

  /** Prints all that is left: the reply has ended. */
  end(): void {
    this.#printText(this.#text.takeAll());
    // Of a reply that was interrupted.
    for (const call of this.#calls.values()) this.#print({ kind: "tool", call: { ...call, isFailed: true } });
    this.#calls.clear();
  }

  /** Prints what is complete by now, and returns the lines of the rest: the last `maximum` of them. */
  lines(width: number, maximum: number, mark: string): Line[] {
    this.#printText(this.#text.takeComplete());
    const { pending } = this.#text;
    const text = pending.trim() === "" ? [] : renderMarkdown(pending, width);
    const calls = [...this.#calls.values()].map((call) => toolLine(call, width, mark));
    const plan = this.#plan.length > 0 ? [[plain(cut(printable(planText(this.#plan)), width - 1), "dim")]] : [];
    const gap = text.length > 0 && calls.length + plan.length > 0 ? [[]] : [];
    return [...text, ...gap, ...calls, ...plan].slice(-maximum);
  }

  #takeCall(event: Extract<TurnEvent, { type: `response.tool_call.${string}` }>): void {
    if (event.type === "response.tool_call.started") this.#printText(this.#text.takeAll());
    const known = this.#calls.get(event.id);
    const call: ToolCall = {
      title: event.title ?? event.name ?? known?.title ?? "tool",
      isFailed: event.status === "failed" || known?.isFailed ? true : null,
      input: event.input ?? known?.input,
      output: event.output ?? known?.output,
    };
    this.#calls.set(event.id, call);
    this.phase = "working";
    if (event.type !== "response.tool_call.completed") return;
    this.#calls.delete(event.id);
    this.#print({ kind: "tool", call: { ...call, isFailed: call.isFailed ?? false } });
  }

  #printText(markdown: string): void {
    if (markdown.trim() !== "") this.#print({ kind: "reply", markdown });
  }
}
