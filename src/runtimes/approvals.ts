import { randomUUID } from "node:crypto";
import { type Decision, type Diff, maximumShown, maximumTitle } from "../contract/approval-fields.ts";
import type { TurnEvent } from "../contract/chat.ts";
import { functionServer } from "../contract/functions.ts";
import { allAllowed, decide, type Permissions, ruleFor, type ToolUse, withRule } from "../contract/permissions.ts";

/** A use of a tool that a runtime has not begun. */
export interface ProposedUse extends ToolUse {
  title: string;
  tool: string | null;
  toolCallId: string | null;
  input: unknown;
  diff: Diff[] | null;
}

/** A person's answer, with a reason for the agent. */
export interface Answer {
  decision: Decision;
  message: string | null;
}

interface AskingTurn {
  turnId: string;
  emit: (event: TurnEvent) => void;
  /** Aborted when the turn is cancelled. */
  cancelled: AbortSignal;
  /** The names of its client's functions, which the client has allowed. */
  functions: readonly string[];
}

/** Decides which tools a turn may use, by the agent's permissions, and asks where they say so. */
export class Approvals {
  #prepared: { turnId: string; permissions: Permissions } | null = null;
  /** Of the last turn: what a runtime does after it is bound by them, too. */
  #permissions = allAllowed;
  #turn: AskingTurn | null = null;
  readonly #open = new Map<string, (answer: Answer | null) => void>();
  readonly #answered = new Set<string>();

  /** The permissions for a turn that is about to begin. Any other turn may use all tools. */
  prepare(turnId: string, permissions: Permissions): void {
    this.#prepared = { turnId, permissions };
  }

  begin(turn: AskingTurn): void {
    this.#answered.clear();
    this.#permissions = this.#prepared?.turnId === turn.turnId ? this.#prepared.permissions : allAllowed;
    this.#turn = turn;
  }

  /** Denies what waits for an answer. */
  end(): void {
    for (const answer of this.#open.values()) answer(null);
    this.#turn = null;
  }

  /** Answers an approval. The first answer wins. False: no such approval has been asked for in the running turn. */
  answer(turnId: string, id: string, answer: Answer): boolean {
    if (this.#turn?.turnId !== turnId) return false;
    this.#open.get(id)?.(answer);
    return this.#answered.has(id);
  }

  /** Whether the runtime may use the tool. Waits for the answer where a person decides; after a turn, nobody does. */
  async mayUse(use: ProposedUse): Promise<boolean> {
    const turn = this.#turn;
    if (use.kind === "mcp" && turn?.functions.some((name) => use.subject === `${functionServer}/${name}`)) return true;
    const decision = decide(this.#permissions, use);
    if (decision !== "ask") return decision === "allow";
    if (!turn || turn.cancelled.aborted || !isShowable(use)) return false;
    const answer = await this.#ask(turn, use);
    if (answer?.decision === "allow-always") {
      const rule = ruleFor(use);
      this.#permissions = (rule && withRule(this.#permissions, rule)) ?? this.#permissions;
    }
    return answer !== null && answer.decision !== "deny";
  }

  async #ask(turn: AskingTurn, use: ProposedUse): Promise<Answer | null> {
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Answer | null>();
    this.#open.set(id, (answer) => {
      this.#open.delete(id);
      this.#answered.add(id);
      turn.emit({ type: "response.approval.resolved", id, decision: answer?.decision ?? null });
      resolve(answer);
    });
    const giveUp = () => this.#open.get(id)?.(null);
    turn.cancelled.addEventListener("abort", giveUp);
    const { kind, subject, tool, toolCallId, input } = use;
    const title = use.title.slice(0, maximumTitle).toWellFormed();
    const diff = use.diff && JSON.stringify(use.diff).length <= maximumShown ? use.diff : null;
    turn.emit({ type: "response.approval.requested", id, toolCallId, kind, title, subject, tool, input, diff });
    return promise.finally(() => turn.cancelled.removeEventListener("abort", giveUp));
  }
}

/** Whether it can be shown whole. Nobody should allow a part of a command. */
function isShowable({ subject, input, tool, toolCallId }: ProposedUse): boolean {
  const isShort = (tool?.length ?? 0) <= maximumTitle && (toolCallId?.length ?? 0) <= maximumTitle;
  return isShort && (subject?.length ?? 0) <= maximumShown && (JSON.stringify(input) ?? "").length <= maximumShown;
}
