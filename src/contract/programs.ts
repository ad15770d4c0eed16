import { z } from "zod";

const time = z.iso.datetime();

/** A third-party program that is signed in at `/mcp`. */
export const ProgramRecord = z
  .object({
    id: z.string().meta({ description: "The program's id, the same for all its sign-ins." }),
    name: z.string().meta({ description: "The name it gives itself, or the host of its document." }),
    address: z.string().nullable().meta({
      description: "The https address of its document; null: it registered with an unverified name.",
    }),
    signedInAt: time.meta({ description: "The oldest sign-in that is still valid." }),
    lastUsedAt: time.meta({
      description: "When it last renewed its token. An active program renews it every ten minutes.",
    }),
  })
  .meta({ id: "Program" });
export type ProgramRecord = z.infer<typeof ProgramRecord>;

export const ProgramParams = z.object({ id: z.string().meta({ description: "The program's id." }) });

export const ProgramList = z
  .object({ data: z.array(ProgramRecord) })
  .meta({ id: "ProgramList", description: "The signed-in programs, last used first; up to 100." });
