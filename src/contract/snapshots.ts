import { z } from "zod";
import { AgentParams, SnapshotReference } from "./agents.ts";
import { isUuid } from "./ids.ts";

/** The most snapshots that an agent may have. */
export const maximumSnapshots = 100;

const nameRule = "1 to 100 characters without line breaks, and not an id";

const SnapshotName = z
  .string()
  .trim()
  .min(1, `A snapshot's name has ${nameRule}.`)
  .max(100, `A snapshot's name has ${nameRule}.`)
  .refine((name) => !/\p{Cc}/u.test(name) && !isUuid(name), `A snapshot's name has ${nameRule}.`)
  .meta({ description: `What it is called, ${nameRule}. Without one, the time.` });

export const CreateSnapshot = z
  .strictObject({
    name: SnapshotName.optional(),
    memory: z.boolean().default(true).meta({
      description:
        "Keep the memory too, with the programs that run. Without it, what is made of it boots from the disk.",
    }),
  })
  .meta({ id: "CreateSnapshot" });
export type CreateSnapshot = z.infer<typeof CreateSnapshot>;

/** Why a snapshot was made. */
const snapshotReasons = ["asked", "rollback", "turn", "upgrade"] as const;
export type SnapshotReason = (typeof snapshotReasons)[number];

export const Snapshot = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: z.iso.datetime(),
    reason: z.enum(snapshotReasons).meta({
      description:
        "`asked`: its owner asked for it. `rollback`: made before a rollback, so that it can be undone. `turn`: made before a turn, as `autoSnapshot` asks. `upgrade`: made before an upgrade, so that it can be undone.",
    }),
    runtime: z.string().meta({ description: "Which runtime the agent had then." }),
    conversation: z.int().meta({ description: "The number of the agent's conversation then." }),
    hasMemory: z.boolean().meta({ description: "Whether programs continue, or the machine boots from the disk." }),
    bytes: z.int().meta({ description: "What it takes on the host's disk, beside what it shares with others." }),
    turnId: z
      .string()
      .nullable()
      .meta({ description: "The turn that ran then, or was about to. It is not gone on with." }),
  })
  .meta({ id: "Snapshot" });
export type Snapshot = z.infer<typeof Snapshot>;

export const SnapshotList = z
  .object({ data: z.array(Snapshot) })
  .meta({ id: "SnapshotList", description: "An agent's snapshots, the oldest first." });

export const SnapshotParams = AgentParams.extend({ snapshot: SnapshotReference });

export const Rollback = z.strictObject({ snapshot: SnapshotReference }).meta({ id: "Rollback" });
