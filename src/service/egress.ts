import type { ChangeEgress, EgressLogEntry } from "../contract/egress.ts";

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
