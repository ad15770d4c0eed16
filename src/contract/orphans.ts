import { z } from "zod";
import { AgentName } from "./agents.ts";
import { UserName } from "./users.ts";

/** Files of a host that no row of the database names. */
export const Orphan = z
  .object({
    id: z.string().meta({ description: "The id of the agent or the snapshot that the files belonged to." }),
    kind: z.enum(["machine", "snapshot", "import"]),
    quarantinedAt: z.string().meta({ description: "ISO 8601." }),
    removedAt: z.string().meta({ description: "When the service removes the files. ISO 8601." }),
    agent: z.string().nullable().meta({ description: "The agent's name, where the files have it." }),
    runtime: z.string().nullable(),
    bytes: z.int().meta({ description: "Bytes on the disk, without what is shared with other machines." }),
  })
  .meta({ id: "Orphan", description: "Files in the quarantine." });
export type Orphan = z.infer<typeof Orphan>;

export const OrphanList = z.object({ data: z.array(Orphan) }).meta({ id: "OrphanList" });

export const OrphanParams = z.object({ id: z.uuid() });

export const GiveBackOrphan = z
  .strictObject({
    name: AgentName.meta({ description: "The name of the new agent." }),
    account: z.uuid().optional().meta({ description: "The id of the account that gets the agent. Default: your own." }),
    user: UserName.optional().meta({ description: "Or the name of a user whose account gets it." }),
  })
  .refine(({ account, user }) => account === undefined || user === undefined, "Set `account` or `user`, not both.")
  .meta({ id: "GiveBackOrphan" });
export type GiveBackOrphan = z.infer<typeof GiveBackOrphan>;
