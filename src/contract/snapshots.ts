import { z } from "zod";
import { AgentParams, SnapshotReference } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
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
  .meta({ description: `The snapshot's name, ${nameRule}. Default: the time.` });

export const CreateSnapshot = z
  .strictObject({
    name: SnapshotName.optional(),
    memory: z.boolean().default(true).meta({
      description: "Include memory, with the running programs. Without it, forks and rollbacks boot from the disk.",
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
    createdBy: CreatedBy.meta({ description: "Null also for one that the service made before a turn." }),
    createdAt: z.iso.datetime(),
    reason: z.enum(snapshotReasons).meta({
      description:
        "`asked`: requested by the owner. `rollback`: made before a rollback, so that it can be undone. `turn`: made before a turn, without memory, as `autoSnapshot` requests. `upgrade`: made before an upgrade, so that it can be undone.",
    }),
    runtime: z.string().meta({ description: "The agent's runtime at that time." }),
    conversation: z.int().meta({ description: "The number of the agent's conversation at that time." }),
    hasMemory: z.boolean().meta({ description: "Whether programs resume, or the machine boots from the disk." }),
    bytes: z.int().meta({ description: "Its size on the host's disk, without data shared with others." }),
    turnId: z
      .string()
      .nullable()
      .meta({ description: "The turn that was running or about to run. It is not resumed." }),
  })
  .meta({ id: "Snapshot" });
export type Snapshot = z.infer<typeof Snapshot>;

export const SnapshotList = z
  .object({ data: z.array(Snapshot) })
  .meta({ id: "SnapshotList", description: "An agent's snapshots, oldest first." });

export const SnapshotParams = AgentParams.extend({ snapshot: SnapshotReference });

export const Rollback = z.strictObject({ snapshot: SnapshotReference }).meta({ id: "Rollback" });
