import type { AuditEntry, AuditOutcome } from "../contract/audit.ts";

/** An entry of the audit log as the service stores it. It contains nothing from a request's body or headers. */
export interface AuditEntryState extends Omit<AuditEntry, "at"> {
  accountId: string;
  at: Date;
}

/** An entry's position in the log, which is ordered by time. */
export type AuditPosition = Pick<AuditEntryState, "at" | "id">;

/** Which entries of an account are asked for; null: any. */
export interface AuditFilter {
  /** An agent's name. */
  agent: string | null;
  outcome: AuditOutcome | null;
  /** Text in the operation, agent, resource, address, code or the name of the author, ignoring case. */
  search: string | null;
  /** Inclusive. */
  since: Date | null;
  /** Exclusive. */
  until: Date | null;
}

/** The entry as the account's owner sees it. */
export function toAuditEntry({ accountId: _, at, ...entry }: AuditEntryState): AuditEntry {
  return { ...entry, at: at.toISOString() };
}
