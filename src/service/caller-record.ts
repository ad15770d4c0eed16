import type { Caller } from "./caller.ts";

/** A caller as JSON has it. */
export type CallerRecord = Omit<Caller, "expiresAt" | "span"> & { expiresAt: string | null };

export function toCallerRecord({ expiresAt, span: _, ...rest }: Caller): CallerRecord {
  return { ...rest, expiresAt: expiresAt?.toISOString() ?? null };
}

export function fromCallerRecord({ expiresAt, ...rest }: CallerRecord): Caller {
  return { ...rest, expiresAt: expiresAt === null ? null : new Date(expiresAt) };
}
