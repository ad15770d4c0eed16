import { z } from "zod";
import { AgentParams } from "./agents.ts";

export const PortNumber = z.coerce.number().int().min(1).max(65_535);

export const PortParams = AgentParams.extend({ port: PortNumber });

/** A listening port of a machine. */
export const ListeningPort = z
  .object({
    port: z.int(),
    address: z.string().max(100).meta({ description: "The address it listens on: `0.0.0.0` or `::` for all." }),
    program: z.string().max(100).nullable().meta({ description: "The name of the process; null if unknown." }),
    pid: z.int().nullable(),
    since: z.iso.datetime().nullable().meta({
      description: "When the process started, by the machine's clock, which stands still while the machine sleeps.",
    }),
  })
  .meta({ id: "ListeningPort" });
export type ListeningPort = z.infer<typeof ListeningPort>;

/** The most ports in a list. */
export const maximumPorts = 1_000;

export const PortList = z.object({ data: z.array(ListeningPort).max(maximumPorts) }).meta({ id: "PortList" });
export type PortList = z.infer<typeof PortList>;
