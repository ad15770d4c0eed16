import type { Duplex } from "node:stream";
import { type AgentState, requireAllowed } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { asBerthError, BerthError } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { Budget } from "../core/budget.ts";
import type { Caller } from "../core/http/caller.ts";
import { pause } from "../core/retry.ts";

/** The right to use an agent's guest. While the lease is held, the agent is not idle. */
export interface GuestLease extends Disposable {
  /** The guest; reconnects if the connection was lost. */
  connect(): Promise<GuestClient>;
  /** Resolves when the run that the lease was acquired for has ended. */
  readonly lost: Promise<void>;
}

/**
 * How often a call is made whose connection breaks, and the time after the first, which doubles: in all 9 s, in which a
 * machine that has just ended is noticed.
 */
const callTries = 6;
const firstRetryMs = 300;

/** How many calls of one agent may wait for its guest at once: no limit on streams counts them. */
const maximumCalls = 100;

/** The only way to use an agent's guest: checks credits, wakes the machine, keeps it awake, and connects. */
export class GuestLeases {
  readonly #context: AppContext;
  /** The calls that `use` makes, by agent. */
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
    const { machines, lifecycle, idleness } = this.#context;
    const open = idleness.keepOpen(agentId);
    try {
      await lifecycle.ready(agentId, queued);
    } catch (error) {
      open[Symbol.dispose]();
      throw error;
    }
    return {
      connect: () => machines.guest(agentId),
      lost: machines.ended(agentId),
      [Symbol.dispose]: () => open[Symbol.dispose](),
    };
  }

  /**
   * Admits the caller, wakes the agent's machine and calls its guest, which is in use until `call` settles. A call that
   * may be made more than once (`again`) is made again where the connection or the machine was lost. Throws as `admit`
   * and `acquire`, what the guest refuses, `too_many_requests` and `machine_failed`.
   */
  async use<Result>(
    agent: AgentState,
    caller: Pick<Caller, "accountId" | "keyId">,
    call: (guest: GuestClient) => Promise<Result>,
    repeat: "again" | "once",
  ): Promise<Result> {
    using _ = this.#enter(agent.id);
    await this.admit(agent, caller);
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

  /** Counts a call until it is answered. */
  #enter(agentId: string): Disposable {
    const entered = this.#calls.take(agentId, 1);
    if (entered) return entered;
    const message = `Up to ${maximumCalls} requests can use an agent's machine at once; try again when earlier ones are answered.`;
    throw new BerthError("too_many_requests", message);
  }

  /**
   * As `use`, for a call with bytes in both directions, which is made again where nothing was begun, unless `gone` has
   * aborted. The guest is in use until `held` is disposed.
   */
  async open(
    agent: AgentState,
    caller: Pick<Caller, "accountId" | "keyId">,
    call: (guest: GuestClient) => Promise<Duplex>,
    gone?: AbortSignal,
  ): Promise<{ stream: Duplex; held: Disposable }> {
    await this.admit(agent, caller);
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

  /** Keeps a machine that is awake from counting as idle. Wakes nothing. */
  keepAwake(agentId: string): Disposable {
    return this.#context.idleness.keepOpen(agentId);
  }

  /**
   * The guest, as soon as its machine is awake; null if `gone` aborts first. For those who only listen: wakes nothing,
   * and keeps nothing awake. Throws the fault of an agent that failed, and `agent_deleted`.
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

/** Whether the connection or the machine was lost: nobody may have noticed yet that it ended. Otherwise the guest refused. */
function isOfMachine(error: unknown): boolean {
  return !(error instanceof BerthError) || error.code === "machine_failed" || error.code === "machine_lost";
}

/** The error for a caller whose call of a guest failed: a refusal as it is, and `machine_failed` for anything else. */
export function lostError(error: unknown): BerthError {
  return asBerthError(error, "machine_failed", "The agent's machine did not answer; its connection was lost.");
}
