import { z } from "zod";

/** The author of something: of a message, a command, a setting or an audit entry. */
export const Author = z
  .object({
    kind: z.enum(["person", "key", "automation"]),
    id: z.uuid().meta({ description: "The id of the person, of the key, or of the agent that asked another." }),
    name: z
      .string()
      .nullable()
      .meta({ description: "Its name; null: a key without a name, one that is gone, or a private agent." }),
    person: z.string().nullable().meta({
      description: "The person's name; for a key its maker's, for an agent that of whoever started it. Null: unknown.",
    }),
  })
  .meta({ id: "Author", description: "A signed-in person, a key, or an agent that asked another." });
export type Author = z.infer<typeof Author>;

/** For a schema's field `createdBy`. */
export const CreatedBy = Author.nullable();
