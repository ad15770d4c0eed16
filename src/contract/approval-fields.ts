import { z } from "zod";
import { permissionKinds } from "./permissions.ts";

/** The longest command, path or input that a person is asked about, in characters of JSON. Longer ones are denied. */
export const maximumShown = 128 * 1024;
export const maximumTitle = 1_000;

export const Diff = z
  .object({
    path: z.string().max(maximumShown),
    oldText: z.string().nullable().meta({ description: "Null: a new file." }),
    newText: z.string(),
  })
  .meta({ id: "Diff" });
export type Diff = z.infer<typeof Diff>;

/** The part of a tool's use that a person sees. */
export const approvalFields = {
  kind: z.enum(permissionKinds),
  title: z.string().max(maximumTitle),
  subject: z
    .string()
    .max(maximumShown)
    .nullable()
    .meta({ description: "The command, path, host or tool that rules are compared with; null: none." }),
  tool: z.string().max(maximumTitle).nullable().meta({ description: "The tool's name in the runtime." }),
  input: z.unknown().meta({ description: "The tool's input." }),
  diff: z
    .array(Diff)
    .max(100)
    .nullable()
    .meta({ description: "The changes of files, where the runtime shows them; null: none, or more than 128 KiB." }),
};

export const Decision = z.enum(["allow", "allow-always", "deny"]);
export type Decision = z.infer<typeof Decision>;
