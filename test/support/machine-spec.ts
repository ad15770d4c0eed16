import type { MachineSpec } from "../../src/machines/spec.ts";

/** The specification of a new agent's machine, on Claude Code and of the default size. */
export function machineSpec(id: string, changes: Partial<MachineSpec> = {}): MachineSpec {
  return {
    id,
    generation: 1,
    restarts: 0,
    restores: 0,
    snapshot: null,
    isImporting: false,
    runtime: "claude-code",
    acp: null,
    hostname: "ada",
    resources: { cpus: 2, memoryMiB: 1536, diskGiB: 10 },
    ...changes,
  };
}
