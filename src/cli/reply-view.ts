import { authorText, type TurnEvent, type Usage } from "@berth/client";
import { planText } from "./plan-text.ts";
import { cut, type Output, printable, styled, writeText } from "./terminal.ts";
import { usageText } from "./usage-text.ts";

/** Says for what a turn waits, and how long. */
export function queuedText({ for: reason, position }: Extract<TurnEvent, { type: "response.queued" }>): string {
  return reason === "turn"
    ? `waiting until the agent has answered (${position})`
    : `waiting for a machine slot (${position})`;
}

/**
 * Shows a turn. The reply's text goes to one output as it arrives. The other gets the tool calls, dimmed, if it is a
 * terminal, and the usage, if the last event has it.
 */
export class ReplyView {
  readonly #reply: Output;
  readonly #notes: Output;
  readonly #showsText: boolean;
  readonly #titles = new Map<string, string>();
  #atLineStart = true;

  /** `showsText`: whether the reply's text is shown. */
  constructor(reply: Output, notes: Output, { showsText } = { showsText: true }) {
    this.#showsText = showsText;
    this.#reply = reply;
    this.#notes = notes;
  }

  show(event: TurnEvent): void {
    switch (event.type) {
      case "response.output_text.delta":
        if (event.delta === "" || !this.#showsText) return;
        writeText(this.#reply, event.delta);
        this.#atLineStart = event.delta.endsWith("\n");
        break;
      case "response.tool_call.started":
      case "response.tool_call.updated":
      case "response.tool_call.completed":
        this.#showTool(event.id, event.title ?? event.name, event.status);
        break;
      case "response.plan.updated":
        if (event.steps.length > 0) this.note(planText(event.steps));
        break;
      case "response.queued":
        this.note(queuedText(event));
        break;
      case "response.steered":
        this.note(`> ${event.createdBy ? `${authorText(event.createdBy)}: ` : ""}${event.message}`);
        break;
      case "response.warning":
        this.note(`! ${event.message}`);
        break;
      case "response.completed":
      case "response.failed":
      case "response.cancelled":
        if (event.usage) this.#showUsage(event.usage);
        break;
      default:
    }
  }

  /** Writes a line in addition to the reply, but only on a terminal. */
  note(text: string): void {
    if (!this.#notes.isTTY) return;
    if (this.#reply.isTTY) this.endLine();
    this.#notes.write(`${styled(this.#notes, "dim", cut(printable(text), (this.#notes.columns || 80) - 1))}\n`);
  }

  /** Ends the reply's last line if it is unfinished. */
  endLine(): void {
    if (!this.#atLineStart) this.#reply.write("\n");
    this.#atLineStart = true;
  }

  /** Continues below the terminal's `^C`. */
  interrupted(): void {
    if (!this.#reply.isTTY) return;
    this.#reply.write("\n");
    this.#atLineStart = true;
  }

  /** The user requested it, so it is shown even without a terminal. */
  #showUsage(usage: Usage): void {
    this.endLine();
    this.#notes.write(`${styled(this.#notes, "dim", printable(usageText(usage)))}\n`);
  }

  /** A call's title may arrive, or change, after the call starts. */
  #showTool(id: string, title: string | undefined, status: string | undefined): void {
    const known = this.#titles.get(id);
    const shown = title ?? known ?? "tool";
    if (shown !== known) this.note(`· ${shown}`);
    if (status === "failed") this.note(`✘ ${shown}`);
    this.#titles.set(id, shown);
  }
}
