import { type AgentState, requireHere } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import type { Decision } from "../contract/approval-fields.ts";
import { maximumApprovals, maximumOpenApprovals } from "../contract/approvals.ts";
import { BerthError } from "../contract/errors.ts";
import { sizeOf } from "../contract/event-log.ts";
import { isUuid } from "../contract/ids.ts";
import { ruleFor } from "../contract/permissions.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import { Backoff, pause } from "../core/retry.ts";
import type { RunningTurn } from "../turns/running-turn.ts";
import type { TurnState } from "../turns/turn.ts";
import type { ApprovalRequest, ApprovalState } from "./store.ts";

/** The largest request, in characters of JSON. Runners send up to half of it. */
const maximumRequest = 1024 * 1024;
const leastRetryMs = 300;
const mostRetryMs = 30_000;

/**
 * Uses of tools that wait for a person's answer. The answer is stored first, and then brought to the machine, which is
 * woken for it.
 */
export class Approvals {
  readonly #context: AppContext;
  /** The turns whose answers are being brought to their machines. */
  readonly #delivering = new Set<string>();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * Stores an approval that a running turn asks for, before its event. Throws `runtime_failed` if the turn asks too
   * often or for too much: a machine may send any events.
   */
  async open({ turn, openApprovals, nextSeq, over }: RunningTurn, event: ApprovalRequest): Promise<void> {
    const { id } = event;
    if (sizeOf(event) > maximumRequest) {
      throw new BerthError("runtime_failed", `An approval is limited to ${maximumRequest / 1024} KiB.`);
    }
    const { stores, config, log } = this.#context;
    const isOver =
      openApprovals.size >= maximumOpenApprovals || (await stores.approvals.count(turn.id)) >= maximumApprovals;
    if (isOver) {
      const message = `A turn may wait for ${maximumOpenApprovals} approvals at once, and for ${maximumApprovals} in all.`;
      throw new BerthError("runtime_failed", message);
    }
    await stores.approvals.open(turn.id, id, nextSeq, new Date(Date.now() + config.approvalMs));
    // If this fails, or another server runs the turn by then, the sweep denies it.
    void pause(config.approvalMs, over.signal)
      .then(() => (over.signal.aborted ? undefined : this.sweep()))
      .catch((error: unknown) => log("approvals could not be expired", { error }));
  }

  async find(turn: TurnState, id: string): Promise<ApprovalState> {
    const found = isUuid(id) ? await this.#context.stores.approvals.find(turn.id, id) : null;
    if (found) return found;
    throw new BerthError("approval_not_found", `The turn has no approval ${isUuid(id) ? id : "with this id"}.`);
  }

  /** The turn's oldest open approval; null: none waits. */
  firstOpen({ id }: TurnState): Promise<ApprovalState | null> {
    return this.#context.stores.approvals.firstOpen(id);
  }

  /**
   * Answers an approval. The first answer wins; a retried request may repeat it. Throws `approval_answered`, with the
   * first answer in `details`, `approval_not_waiting` if the turn has ended, and `agent_elsewhere`.
   */
  async answer(
    agent: AgentState,
    turn: TurnState,
    id: string,
    { decision, message = null }: { decision: Decision; message?: string | null | undefined },
    author: AuthorIds,
    isRetried = false,
  ): Promise<ApprovalState> {
    requireHere(agent);
    const approval = await this.find(turn, id);
    if (decision === "allow-always" && !ruleFor(approval)) {
      const reason = approval.subject === null ? "has nothing that a rule could name" : "is too long for a rule";
      throw new BerthError("request_invalid", `decision: this ${approval.kind} ${reason}; use allow or deny.`);
    }
    const isFirst = await this.#context.stores.approvals.answer(approval, { decision, message }, author);
    const answered = await this.find(turn, id);
    if (!isFirst && !(isRetried && answered.decision === decision)) refuseSecond(answered);
    this.deliver(turn.id);
    return answered;
  }

  /** Brings the stored answers of a turn that runs in this server to its machine. */
  deliver(turnId: string): void {
    const running = this.#context.running.get(turnId);
    if (!running || this.#delivering.has(turnId)) return;
    this.#delivering.add(turnId);
    this.#deliverAll(running)
      .catch((error: unknown) => {
        // The sweep tries again.
        if (!running.over.signal.aborted)
          this.#context.log("an approval's answer was not delivered", { turnId, error });
      })
      .finally(() => this.#delivering.delete(turnId));
  }

  /** Called periodically. */
  async sweep(): Promise<void> {
    await this.#context.stores.approvals.expire();
    for (const { turn, openApprovals } of this.#context.running) if (openApprovals.size > 0) this.deliver(turn.id);
  }

  async #deliverAll(running: RunningTurn): Promise<void> {
    const { turn, openApprovals, over } = running;
    const done = new Set<string>();
    const backoff = new Backoff(leastRetryMs, mostRetryMs);
    while (!over.signal.aborted) {
      const answers = await this.#context.stores.approvals.answers(turn.id);
      const due = answers.filter(({ id }) => openApprovals.has(id) && !done.has(id));
      if (due.length === 0) return;
      using lease = await this.#context.leases.acquire(turn.agentId);
      try {
        const guest = await lease.connect();
        for (const { id, decision, message } of due) {
          await guest.answerApproval({ turnId: turn.id, approvalId: id, decision, message });
          done.add(id);
        }
      } catch (error) {
        if (error instanceof BerthError && error.code === "approval_not_waiting") return;
        await pause(backoff.next(), over.signal);
      }
    }
  }
}

function refuseSecond({ status, decision, decidedBy, decidedAt }: ApprovalState): never {
  if (status !== "answered") {
    throw new BerthError("approval_not_waiting", "The turn has ended without an answer to this approval.");
  }
  throw new BerthError("approval_answered", `The approval was answered before: ${decision}.`, {
    details: { decision, decidedBy, decidedAt: decidedAt?.toISOString() ?? null },
  });
}
