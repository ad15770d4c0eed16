import type { Duplex } from "node:stream";
import { type AgentState, requireAllowed } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { asBerthError, BerthError } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { Budget } from "../core/budget.ts";
import type { Caller } from "../core/http/caller.ts";
import { pause } from "../core/retry.ts";
import type { OpenDownload } from "../machines/connections.ts";

/** The right to use an agent's guest. While the lease is held, the agent is not idle. */
export interface GuestLease extends Disposable {
  /** The guest; reconnects if the connection was lost. */
  connect(): Promise<GuestClient>;
  readonly openDownload: OpenDownload;
  /** Resolves when the run that the lease was acquired for has ended. */
  readonly lost: Promise<void>;
}

/**
 * How often a call with a broken connection is made, and the delay after the first attempt, which doubles: 9 s in
 * total, during which a machine that has just stopped is noticed.
 */
const callTries = 6;
const firstRetryMs = 300;

/**
 * The maximum number of calls of one agent that wait for its guest: they have no stream yet, so no limit on streams
 * counts them.
 */
const maximumCalls = 100;

/** The payer of a call, or a caller that was admitted earlier in the same request. */
type Admission = Pick<Caller, "accountId" | "keyId"> | "admitted";

/** The only way to use an agent's guest: checks credits, wakes the machine, keeps it awake, and connects. */
export class GuestLeases {
  readonly #context: AppContext;
  /** The pending calls of `use`, by agent. */
  readonly #calls = new Budget({ total: 10_000, perHolder: maximumCalls });

  constructor(context: AppContext) {
    this.#context = context;
  }

  /**
   * Throws if the agent's guest cannot be used now: `insufficient_credits`, `agent_failed`, `agent_deleting`,
   * `agent_elsewhere`, `no_capacity`, `disk_full`.
   */
  async admit(agent: AgentState, { accountId, keyId }: Pick<Caller, "accountId" | "keyId">): Promise<void> {
    await this.#context.ledger.requireCredits(accountId, keyId);
    await this.#context.reserve.require();
    requireAllowed("chat", agent);
    this.#context.lifecycle.requireSlot(agent);
  }

  /**
   * Wakes the agent's machine, and resolves when its guest can be used. `queued` is called with the position while the
   * machine waits for a slot. Rejects with the fault of a failed agent, or with `no_capacity`, `agent_deleted`.
   */
  async acquire(agentId: string, queued: (position: number) => void = () => {}): Promise<GuestLease> {
    const { lifecycle, idleness } = this.#context;
    const open = idleness.keepOpen(agentId);
    try {
      await lifecycle.ready(agentId, queued);
    } catch (error) {
      open[Symbol.dispose]();
      throw error;
    }
    return { ...this.#connections(agentId), [Symbol.dispose]: () => open[Symbol.dispose]() };
  }

  /** A lease on a running machine that does not keep it awake. */
  attend(agentId: string): GuestLease {
    return { ...this.#connections(agentId), [Symbol.dispose]: () => {} };
  }

  #connections(agentId: string): Omit<GuestLease, typeof Symbol.dispose> {
    const { machines } = this.#context;
    return {
      connect: () => machines.guest(agentId),
      openDownload: (download) => machines.openDownload(agentId, download),
      lost: machines.ended(agentId),
    };
  }

  /**
   * Admits the caller, wakes the agent's machine and calls its guest, which is in use until `call` settles. A
   * repeatable call (`again`) is retried if the connection or the machine was lost. Throws the errors of `admit` and
   * `acquire`, the guest's refusals, `too_many_requests` and `machine_failed`.
   */
  async use<Result>(
    agent: AgentState,
    caller: Admission,
    call: (guest: GuestClient) => Promise<Result>,
    repeat: "again" | "once",
  ): Promise<Result> {
    using _ = this.#enter(agent.id);
    if (caller !== "admitted") await this.admit(agent, caller);
    const tries = repeat === "again" ? callTries : 1;
    for (let attempt = 1; ; attempt++) {
      using lease = await this.acquire(agent.id);
      try {
        return await call(await lease.connect());
      } catch (error) {
        if (!isOfMachine(error) || attempt === tries) throw lostError(error);
      }
      await pause(firstRetryMs * 2 ** (attempt - 1));
    }
  }

  /** Counts a call until it settles. */
  #enter(agentId: string): Disposable {
    const entered = this.#calls.take(agentId, 1);
    if (entered) return entered;
    const message = `An agent's machine accepts up to ${maximumCalls} requests at once; try again when earlier ones have finished.`;
    throw new BerthError("too_many_requests", message);
  }

  /**
   * As `use`, for a call with bytes in both directions, which is retried if nothing has started, unless `gone` has
   * aborted. The guest is in use until `held` is disposed.
   */
  async open(
    agent: AgentState,
    caller: Admission,
    call: (guest: GuestClient) => Promise<Duplex>,
    gone?: AbortSignal,
  ): Promise<{ stream: Duplex; held: GuestLease }> {
    if (caller !== "admitted") await this.admit(agent, caller);
    for (let attempt = 1; ; attempt++) {
      const held = await this.acquire(agent.id);
      try {
        return { stream: await call(await held.connect()), held };
      } catch (error) {
        held[Symbol.dispose]();
        if (!isOfMachine(error) || attempt === callTries || gone?.aborted) throw lostError(error);
      }
      await pause(firstRetryMs * 2 ** (attempt - 1));
    }
  }

  /** Keeps a running machine from becoming idle. Wakes nothing. */
  keepAwake(agentId: string): Disposable {
    return this.#context.idleness.keepOpen(agentId);
  }

  /**
   * The guest, as soon as its machine is awake; null if `gone` aborts first. For passive readers: wakes nothing, and
   * keeps nothing awake. Throws the fault of an agent that failed, and `agent_deleted`.
   */
  async awake(agentId: string, gone: AbortSignal): Promise<GuestClient | null> {
    for await (const { desired, status, error } of this.#context.lifecycle.watch(agentId, gone)) {
      if (desired === "deleted") break;
      if (status === "failed") throw new BerthError(error?.code ?? "machine_failed", error?.message ?? "It failed.");
      if (desired === "running" && status === "ready") return this.#context.machines.guest(agentId);
    }
    if (gone.aborted) return null;
    throw new BerthError("agent_deleted", "The agent was deleted.");
  }

  /** The guest of a running machine; null for any other. Wakes nothing. */
  async ifRunning(agentId: string): Promise<GuestClient | null> {
    const { machines } = this.#context;
    return (await machines.isRunning(agentId)) ? machines.guest(agentId) : null;
  }
}

/** Whether the connection or the machine was lost, perhaps unnoticed so far. Otherwise the guest refused. */
function isOfMachine(error: unknown): boolean {
  return !(error instanceof BerthError) || error.code === "machine_failed" || error.code === "machine_lost";
}

/** The caller's error for a failed guest call: a refusal unchanged, and `machine_failed` for anything else. */
export function lostError(error: unknown): BerthError {
  return asBerthError(error, "machine_failed", "The agent's machine did not respond; its connection was lost.");
}
