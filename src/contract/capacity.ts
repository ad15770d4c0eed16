import { z } from "zod";

const of = <Value extends z.ZodType>(value: Value) => z.object({ used: value, limit: value });

/** This server's host's capacity and usage. */
export const Capacity = z
  .object({
    machines: of(z.int()).meta({ description: "Running machines, and the maximum (`BERTH_MAX_AGENTS`)." }),
    memoryMiB: of(z.int()).meta({ description: "Memory of running machines, and the maximum (`BERTH_MEMORY_MIB`)." }),
    spares: of(z.int())
      .extend({ reason: z.string().nullable().meta({ description: "Why there are fewer than the maximum." }) })
      .meta({ description: "Spares among the running machines, and the maximum (`BERTH_SPARES`)." }),
    queue: of(z.int()).meta({ description: "Agents queued for a slot, and the maximum (`BERTH_MAX_WAITING`)." }),
  })
  .meta({ id: "Capacity", description: "The host of the server that responds." });
export type Capacity = z.infer<typeof Capacity>;
