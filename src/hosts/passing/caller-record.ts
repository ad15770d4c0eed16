import type { Caller } from "../../core/http/caller.ts";

/** A caller as JSON has it. */
export type CallerRecord = Omit<Caller, "expiresAt" | "span"> & { expiresAt: string | null };

export function toCallerRecord({ expiresAt, span: _, ...rest }: Caller): CallerRecord {
  return { ...rest, expiresAt: expiresAt?.toISOString() ?? null };
}

export function fromCallerRecord({ expiresAt, token, personId, role, ...rest }: CallerRecord): Caller {
  // Tickets of an earlier version do not have these.
  const added = { token: token ?? null, personId: personId ?? null, role: role ?? "owner" };
  return { ...rest, ...added, expiresAt: expiresAt === null ? null : new Date(expiresAt) };
}
