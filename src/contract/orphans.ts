import { z } from "zod";
import { AgentName } from "./agents.ts";
import { UserName } from "./users.ts";

/** Files on a host that belong to no row of the database. */
export const Orphan = z
  .object({
    id: z.string().meta({ description: "The id of the agent or snapshot that the files belonged to." }),
    kind: z.enum(["machine", "snapshot", "import"]),
    quarantinedAt: z.string().meta({ description: "ISO 8601." }),
    removedAt: z.string().meta({ description: "When the service deletes the files. ISO 8601." }),
    agent: z.string().nullable().meta({ description: "The agent's name, if the files contain it." }),
    runtime: z.string().nullable(),
    bytes: z.int().meta({ description: "Bytes on disk, without data shared with other machines." }),
  })
  .meta({ id: "Orphan", description: "Orphaned files in the quarantine." });
export type Orphan = z.infer<typeof Orphan>;

export const OrphanList = z.object({ data: z.array(Orphan) }).meta({ id: "OrphanList" });

export const OrphanParams = z.object({ id: z.uuid() });

export const GiveBackOrphan = z
  .strictObject({
    name: AgentName.meta({ description: "The name of the new agent." }),
    account: z.uuid().optional().meta({ description: "The id of the account that gets the agent. Default: your own." }),
    user: UserName.optional().meta({ description: "Or the name of a user in the account that gets it." }),
    private: z.boolean().optional().meta({
      description:
        "Whether only one person sees the agent: its maker if the database knows that it was private, otherwise the account's only member, or the person whose personal workspace it is. False shows its files to all members. Default: true, or false in an account without members. Required if there is no such person.",
    }),
  })
  .refine(({ account, user }) => account === undefined || user === undefined, "Set `account` or `user`, not both.")
  .meta({ id: "GiveBackOrphan" });
export type GiveBackOrphan = z.infer<typeof GiveBackOrphan>;
