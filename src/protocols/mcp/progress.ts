import type { ServerContext } from "@modelcontextprotocol/server";
import type { TurnEvent } from "../../contract/chat.ts";
import { queuedText } from "../queued-text.ts";

/** Clients time out on a call that sends nothing for a minute. */
const everyMs = 10_000;
/** The least time between two notifications. */
const pauseMs = 1_000;
/** How much of the reply's text a notification shows, in characters. */
const shownCharacters = 200;

/** Notifies a client that requested it of a call's progress: at each change, and periodically without one. */
export class Progress implements Disposable {
  readonly #request: ServerContext["mcpReq"];
  readonly #timer: NodeJS.Timeout | null;
  #steps = 0;
  #message = "Working";
  #text = "";
  #lastAt = 0;

  constructor(request: ServerContext["mcpReq"]) {
    this.#request = request;
    this.#timer = this.isWanted ? setInterval(() => this.#send(), everyMs) : null;
  }

  /** Whether the client waits for notifications. */
  get isWanted(): boolean {
    return this.#request._meta?.progressToken !== undefined;
  }

  /** Notes an event of the turn that the call waits for. */
  note(event: TurnEvent): void {
    const message = this.#describe(event);
    if (message === null) return;
    this.#message = message;
    if (performance.now() - this.#lastAt >= pauseMs) this.#send();
  }

  #describe(event: TurnEvent): string | null {
    switch (event.type) {
      case "response.queued":
        return queuedText(event);
      case "response.in_progress":
        return "The agent is working";
      case "response.reasoning_text.delta":
        return "Thinking";
      case "response.tool_call.started":
        return `Uses ${(event.title ?? event.name ?? "a tool").slice(0, shownCharacters).toWellFormed()}`;
      case "response.output_text.delta":
        this.#text = (this.#text + event.delta).slice(-shownCharacters);
        return `Writes: ${this.#text.toWellFormed()}`;
      default:
        return null;
    }
  }

  #send(): void {
    if (!this.#timer) return;
    this.#lastAt = performance.now();
    this.#steps += 1;
    const { progressToken } = this.#request._meta!;
    const params = { progressToken, progress: this.#steps, message: this.#message };
    // The client may have disconnected.
    this.#request.notify({ method: "notifications/progress", params }).catch(() => {});
  }

  [Symbol.dispose](): void {
    if (this.#timer) clearInterval(this.#timer);
  }
}
