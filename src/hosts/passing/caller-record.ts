import type { Caller } from "../../core/http/caller.ts";

/** A caller as JSON has it. */
export type CallerRecord = Omit<Caller, "expiresAt" | "span"> & { expiresAt: string | null };

export function toCallerRecord({ expiresAt, span: _, ...rest }: Caller): CallerRecord {
  return { ...rest, expiresAt: expiresAt?.toISOString() ?? null };
}

export function fromCallerRecord({ expiresAt, token, ...rest }: CallerRecord): Caller {
  // A server of an earlier version does not write it.
  return { ...rest, token: token ?? null, expiresAt: expiresAt === null ? null : new Date(expiresAt) };
}
