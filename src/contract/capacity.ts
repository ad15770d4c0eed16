import { z } from "zod";

const of = <Value extends z.ZodType>(value: Value) => z.object({ used: value, limit: value });

/** What this server's host has for machines, and what is taken of it. */
export const Capacity = z
  .object({
    machines: of(z.int()).meta({ description: "Machines that are awake, and how many may be (`BERTH_MAX_AGENTS`)." }),
    memoryMiB: of(z.int()).meta({ description: "The memory of those, and what all may have (`BERTH_MEMORY_MIB`)." }),
    spares: of(z.int()).meta({
      description: "Machines, among those, that wait for new agents, and how many may (`BERTH_SPARES`).",
    }),
    queue: of(z.int()).meta({ description: "Agents that wait for a slot, and how many may (`BERTH_MAX_WAITING`)." }),
  })
  .meta({ id: "Capacity", description: "Of the host of the server that was asked." });
export type Capacity = z.infer<typeof Capacity>;
