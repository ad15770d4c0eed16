import type { TurnEvent, Usage } from "../contract/chat.ts";
import { cut, type Output, printable, styled, writeText } from "./terminal.ts";
import { usageText } from "./usage-text.ts";

/**
 * Shows a turn: the reply's text on one output as it comes; dimly on the other its tool calls, if that is a terminal,
 * and what it has used, if its last event has that.
 */
export class ReplyView {
  readonly #reply: Output;
  readonly #notes: Output;
  readonly #titles = new Map<string, string>();
  #atLineStart = true;

  constructor(reply: Output, notes: Output) {
    this.#reply = reply;
    this.#notes = notes;
  }

  show(event: TurnEvent): void {
    switch (event.type) {
      case "response.output_text.delta":
        if (event.delta === "") return;
        writeText(this.#reply, event.delta);
        this.#atLineStart = event.delta.endsWith("\n");
        break;
      case "response.tool_call.started":
      case "response.tool_call.updated":
      case "response.tool_call.completed":
        this.#showTool(event.id, event.title ?? event.name, event.status);
        break;
      case "response.completed":
      case "response.failed":
      case "response.cancelled":
        if (event.usage) this.#showUsage(event.usage);
        break;
      default:
    }
  }

  /** A line beside the reply; nothing where nobody watches. */
  note(text: string): void {
    if (!this.#notes.isTTY) return;
    if (this.#reply.isTTY) this.endLine();
    this.#notes.write(`${styled(this.#notes, "dim", cut(printable(text), (this.#notes.columns || 80) - 1))}\n`);
  }

  /** Ends the reply's last line where it has not ended. */
  endLine(): void {
    if (!this.#atLineStart) this.#reply.write("\n");
    this.#atLineStart = true;
  }

  /** Goes on below the `^C` that the terminal has shown. */
  interrupted(): void {
    if (!this.#reply.isTTY) return;
    this.#reply.write("\n");
    this.#atLineStart = true;
  }

  /** It was asked for: it is told where nobody watches, too. */
  #showUsage(usage: Usage): void {
    this.endLine();
    this.#notes.write(`${styled(this.#notes, "dim", printable(usageText(usage)))}\n`);
  }

  /** A call's title may come, or change, after its start. */
  #showTool(id: string, title: string | undefined, status: string | undefined): void {
    const known = this.#titles.get(id);
    const shown = title ?? known ?? "tool";
    if (shown !== known) this.note(`· ${shown}`);
    if (status === "failed") this.note(`✘ ${shown}`);
    this.#titles.set(id, shown);
  }
}
