import { z } from "zod";

const time = z.iso.datetime();

/** A program of others that is signed in at `/mcp`. */
export const ProgramRecord = z
  .object({
    id: z.string().meta({ description: "Of the program, however often it is signed in." }),
    name: z.string().meta({ description: "What it calls itself, or the host of its document." }),
    address: z.string().nullable().meta({
      description: "The https address of its document; null: it registered by a name that nobody has checked.",
    }),
    signedInAt: time.meta({ description: "The first sign-in that still counts." }),
    lastUsedAt: time.meta({ description: "When it last renewed its token, which it does every ten minutes at work." }),
  })
  .meta({ id: "Program" });
export type ProgramRecord = z.infer<typeof ProgramRecord>;

export const ProgramParams = z.object({ id: z.string().meta({ description: "The program's id." }) });

export const ProgramList = z
  .object({ data: z.array(ProgramRecord) })
  .meta({ id: "ProgramList", description: "The programs that are signed in, the last used first; 100 at most." });
