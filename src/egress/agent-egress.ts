import type { AppContext } from "../context.ts";
import type { AccountConnection, ChangeEgress, EgressLogEntry, EgressPolicy } from "../contract/egress.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import type { Viewer } from "../core/http/access.ts";
import type { AgentRules } from "./policy.ts";

/** The default. */
export const usualRules: AgentRules = { allow: ["*"], deny: [], ask: false };

/** A connection as the service stores it. */
export interface ConnectionState extends Omit<EgressLogEntry, "startedAt" | "finishedAt" | "verdict"> {
  agentId: string;
  startedAt: Date;
  finishedAt: Date;
}

/** A connection's position in the log, which is ordered by start time. */
export type ConnectionPosition = Pick<ConnectionState, "startedAt" | "id">;

/** The connection as the agent's owner sees it. */
export function toLogEntry({ agentId: _, startedAt, finishedAt, ...rest }: ConnectionState): EgressLogEntry {
  return {
    ...rest,
    verdict: rest.reason === null ? "allowed" : "refused",
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
  };
}

/** The connection as the owner of all agents sees it. */
export function toAccountConnection({ agent, ...rest }: ConnectionState & { agent: string }): AccountConnection {
  return { ...toLogEntry(rest), agent };
}

/** A filter for an account's connections; null: any. */
export interface ConnectionFilter {
  verdict: "allowed" | "refused" | null;
  /** Started then or later. */
  since: Date | null;
}

/** The allowed destinations of agents' programs, and their connections. */
export class AgentEgress {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The agent's lists, and the operator's. */
  async policy(agentId: string): Promise<EgressPolicy> {
    const { config, stores } = this.#context;
    const [lists, createdBy] = await Promise.all([
      stores.egressRules.of(agentId),
      stores.egressRules.authorOf(agentId),
    ]);
    return { allow: [...lists.allow], deny: [...lists.deny], ask: lists.ask, createdBy, operator: config.egress };
  }

  /** Sets the agent's lists, and closes connections that they do not allow. */
  async setRules(agentId: string, lists: ChangeEgress, by: AuthorIds): Promise<void> {
    await this.#context.stores.egressRules.set(agentId, lists, by);
    // First what keeps the agent inside its lists.
    await this.#context.egress.recheck(agentId);
    await this.settleHosts(agentId);
  }

  /** Removes the inbox's items of hosts that the lists now allow or deny. */
  async settleHosts(agentId: string): Promise<void> {
    const { stores, egress } = this.#context;
    const blocked = await stores.inbox.blockedHosts(agentId);
    if (blocked.length === 0) return;
    const rules = await stores.egressRules.of(agentId);
    const settled = blocked.filter((place) => !egress.isUndecided(place, rules));
    if (settled.length > 0) await stores.inbox.settle(settled.map(({ id }) => id));
  }

  /** The same for all agents: the operator's lists may have changed, and an item may be made later than a rule. */
  async settleAllHosts(): Promise<void> {
    for (const agentId of await this.#context.stores.inbox.agentsOfBlocked()) await this.settleHosts(agentId);
  }

  /** The newest connections first, after `after`. */
  connections(
    agentId: string,
    limit: number,
    after: ConnectionPosition | null,
    verdict: "allowed" | "refused" | null,
  ): Promise<ConnectionState[]> {
    return this.#context.stores.egressLog.list(agentId, limit, after, verdict);
  }

  /** The same for all of the caller's agents. */
  connectionsOfAccount(
    viewer: Viewer,
    limit: number,
    after: ConnectionPosition | null,
    filter: ConnectionFilter,
  ): Promise<(ConnectionState & { agent: string })[]> {
    return this.#context.stores.egressLog.ofAccount(viewer, limit, after, filter);
  }
}
