import type { FastifyRequest } from "fastify";
import type { Principals } from "../../accounts/principals.ts";
import type { AgentStore } from "../../agents/store.ts";
import type { Config } from "../../config/config.ts";
import { BerthError } from "../../contract/errors.ts";
import { accessTo } from "./access.ts";
import { countedAs } from "./caller.ts";

/** How long a stream may continue after its key was revoked, its account disabled, or its agent made private. */
const checkMs = 3_000;

/**
 * The event streams open at this server, by key and by account. Refuses streams beyond either limit, and closes those
 * whose caller has lost access, to the account or to the agent.
 */
export class Streams {
  readonly #maximum: number;
  readonly #maximumOfAccount: number;
  readonly #ofAccounts = new Map<string, number>();
  readonly #principals: Principals;
  readonly #agents: Pick<AgentStore, "privateOf">;
  readonly #open = new Map<string, Set<FastifyRequest>>();
  #checks: NodeJS.Timeout | null = null;

  constructor(
    { maximumStreams, maximumAccountStreams }: Config,
    principals: Principals,
    agents: Pick<AgentStore, "privateOf">,
  ) {
    this.#maximum = maximumStreams;
    this.#maximumOfAccount = maximumAccountStreams;
    this.#principals = principals;
    this.#agents = agents;
  }

  get size(): number {
    return [...this.#open.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Counts a stream until disposed. Throws `too_many_streams`. */
  enter(request: FastifyRequest): Disposable {
    const who = countedAs(request.caller);
    const open = this.#open.get(who) ?? new Set();
    if (open.size >= this.#maximum) {
      throw new BerthError(
        "too_many_streams",
        `${this.#maximum} streams are open with this key, which is the maximum.`,
      );
    }
    const { accountId } = request.caller;
    const ofAccount = this.#ofAccounts.get(accountId) ?? 0;
    if (ofAccount >= this.#maximumOfAccount) {
      const message = `${this.#maximumOfAccount} streams are open with this account's keys, which is the most.`;
      throw new BerthError("too_many_streams", message);
    }
    this.#ofAccounts.set(accountId, ofAccount + 1);
    this.#open.set(who, open.add(request));
    this.#checks ??= setInterval(() => this.#check(), checkMs).unref();
    return { [Symbol.dispose]: () => this.#leave(who, open, request) };
  }

  /** Closes all streams. Their readers reconnect to another server. */
  cutAll(): void {
    for (const open of this.#open.values()) for (const { raw } of open) raw.socket.destroy();
  }

  #leave(who: string, open: Set<FastifyRequest>, request: FastifyRequest): void {
    if (!open.delete(request)) return;
    const { accountId } = request.caller;
    const ofAccount = this.#ofAccounts.get(accountId)! - 1;
    if (ofAccount > 0) this.#ofAccounts.set(accountId, ofAccount);
    else this.#ofAccounts.delete(accountId);
    if (open.size === 0) this.#open.delete(who);
    if (this.#open.size > 0 || !this.#checks) return;
    clearInterval(this.#checks);
    this.#checks = null;
  }

  /** Closes streams of invalid callers. Their clients see that the end is missing, reconnect, and get the error. */
  #check(): void {
    const open = [...this.#open.values()].flatMap((requests) => [...requests]);
    // While the database is unavailable, all callers count as valid.
    void this.#endHidden(open).catch(() => {});
    // Streams of one key or token are valid or invalid together.
    const groups = Map.groupBy(
      open,
      ({ caller }) => caller.keyId ?? JSON.stringify([caller.accountId, caller.personId, caller.token]),
    );
    for (const requests of groups.values()) {
      const valid = this.#principals.isValid(requests[0]!.caller).catch(() => true);
      void valid.then((still) => {
        if (!still) for (const { raw } of requests) raw.socket.destroy();
      });
    }
  }

  /** Closes streams about agents that have become private, except for their makers. */
  async #endHidden(open: readonly FastifyRequest[]): Promise<void> {
    const ids = new Set(open.flatMap(({ agentIds = [] }) => [...agentIds]));
    if (ids.size === 0) return;
    const agents = await this.#agents.privateOf([...ids]);
    for (const { agentIds, caller, raw } of open) {
      if (agents.some((agent) => agentIds?.has(agent.id) && accessTo(agent, caller) !== "all")) raw.socket.destroy();
    }
  }
}
