import type { ChangeEgress, EgressLogEntry, EgressPolicy } from "../contract/egress.ts";

/** An agent's own lists of where its programs may connect to. */
export type EgressLists = ChangeEgress;

/** Of an agent whose owner has set none. */
export const usualLists: EgressLists = { allow: ["*"], deny: [] };

/** A connection as the service keeps it. */
export interface ConnectionState extends Omit<EgressLogEntry, "startedAt" | "finishedAt" | "verdict"> {
  agentId: string;
  startedAt: Date;
  finishedAt: Date;
}

/** Where a connection stands in the log, which goes by when they began. */
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

interface AgentEgressOptions {
  /** The operator's own lists, which hold beside the agent's. */
  operator: EgressLists;
  rules: { of(agentId: string): Promise<EgressLists>; set(agentId: string, lists: EgressLists): Promise<void> };
  log: {
    list(
      agentId: string,
      limit: number,
      after: ConnectionPosition | null,
      verdict: "allowed" | "refused" | null,
    ): Promise<ConnectionState[]>;
  };
  /** Cuts the agent's open connections that its rules do not allow any more. */
  recheck: (agentId: string) => Promise<void>;
}

/** Where agents' programs may connect to, and where they did. */
export class AgentEgress {
  readonly #options: AgentEgressOptions;

  constructor(options: AgentEgressOptions) {
    this.#options = options;
  }

  /** The agent's lists, and the operator's. */
  async policy(agentId: string): Promise<EgressPolicy> {
    return { ...(await this.#options.rules.of(agentId)), operator: this.#options.operator };
  }

  /** Sets the agent's lists, and cuts its connections that they do not allow. */
  async setRules(agentId: string, lists: EgressLists): Promise<void> {
    await this.#options.rules.set(agentId, lists);
    await this.#options.recheck(agentId);
  }

  /** The newest connections first, after `after`. */
  connections(
    agentId: string,
    limit: number,
    after: ConnectionPosition | null,
    verdict: "allowed" | "refused" | null,
  ): Promise<ConnectionState[]> {
    return this.#options.log.list(agentId, limit, after, verdict);
  }
}
