import { createInterface } from "node:readline/promises";
import type { AgentHandle, Reply, TurnEvent } from "@berth/client";
import { type ApprovalRequest, approvalText, decisionKeys, decisionOf } from "./approval-text.ts";
import type { ReplyView } from "./reply-view.ts";

/** Asks the user on a terminal about the approvals of a turn, one at a time. Elsewhere it says that the turn waits. */
export class ApprovalPrompts {
  readonly #agent: AgentHandle;
  readonly #reply: Reply;
  readonly #view: ReplyView;
  readonly #waiting: ApprovalRequest[] = [];
  /** Ends the question that is asked. */
  #asking: { id: string; over: AbortController } | null = null;

  constructor(agent: AgentHandle, reply: Reply, view: ReplyView) {
    this.#agent = agent;
    this.#reply = reply;
    this.#view = view;
  }

  take(event: TurnEvent): void {
    if (event.type === "response.approval.requested") {
      this.#waiting.push(event);
      void this.#askNext();
    } else if (event.type === "response.approval.resolved") {
      const index = this.#waiting.findIndex(({ id }) => id === event.id);
      if (index >= 0) this.#waiting.splice(index, 1);
      if (this.#asking?.id === event.id) this.#asking.over.abort();
    }
  }

  end(): void {
    this.#waiting.length = 0;
    this.#asking?.over.abort();
  }

  async #askNext(): Promise<void> {
    const [request] = this.#waiting;
    if (this.#asking || !request) return;
    const { name } = this.#agent;
    if (!process.stdin.isTTY || !process.stderr.isTTY) {
      this.#waiting.shift();
      console.error(`${name} wants to ${approvalText(request)}. To answer: berth approvals allow|deny ${name}`);
      return;
    }
    const over = new AbortController();
    this.#asking = { id: request.id, over };
    this.#view.endLine();
    const decision = await ask(`${name} wants to ${approvalText(request)}\n${decisionKeys} `, over.signal);
    this.#asking = null;
    const index = this.#waiting.indexOf(request);
    if (index >= 0) this.#waiting.splice(index, 1);
    if (decision !== null) {
      await this.#agent.approvals
        .answer(await this.#reply.turnId, request.id, { decision })
        .catch((error: Error) => this.#view.note(error.message));
    }
    return this.#askNext();
  }
}

/** The user's decision; null if `signal` is aborted or the input ends. */
async function ask(question: string, signal: AbortSignal) {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  // Passed on, so that it interrupts the turn as at other times.
  terminal.on("SIGINT", () => {
    process.emit("SIGINT");
    terminal.close();
  });
  try {
    for (;;) {
      const answer = await Promise.race([terminal.question(question, { signal }), ended]);
      const decision = decisionOf(answer.trim().toLowerCase().slice(0, 1));
      if (decision !== null || answer === "") return decision;
    }
  } catch {
    return null;
  } finally {
    terminal.close();
  }
}
