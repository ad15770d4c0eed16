import type { ChangeNetwork, NetworkLogEntry } from "../contract/network.ts";

/** An agent's own lists of where its programs may connect to. */
export type NetworkLists = ChangeNetwork;

/** Of an agent whose owner has set none. */
export const usualLists: NetworkLists = { allow: ["*"], deny: [] };

/** A connection as the service keeps it. */
export interface StoredConnection extends Omit<NetworkLogEntry, "startedAt" | "finishedAt" | "verdict"> {
  agentId: string;
  startedAt: Date;
  finishedAt: Date;
}

/** Where a connection stands in the log, which goes by when they began. */
export type ConnectionPlace = Pick<StoredConnection, "startedAt" | "id">;

/** The connection as the agent's owner sees it. */
export function toLogEntry({ agentId: _, startedAt, finishedAt, ...rest }: StoredConnection): NetworkLogEntry {
  return {
    ...rest,
    verdict: rest.reason === null ? "allowed" : "refused",
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
  };
}
