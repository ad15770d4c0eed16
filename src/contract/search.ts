import { z } from "zod";
import { ListQuery } from "./agents.ts";

/** The most characters of a search, as UTF-16 units. */
const maximumSearch = 200;

/** The most characters of an excerpt, as readers count them. */
export const excerptCharacters = 200;

/** The longest part of a message or reply that is searched, in UTF-16 units. */
export const searchedLength = 64 * 1024;

export const SearchQuery = ListQuery.extend({
  q: z
    .string("q is required: the words to search for.")
    .min(1, "q must not be empty.")
    .max(maximumSearch, `q is limited to ${maximumSearch} characters.`)
    .meta({
      description:
        'Words that all occur in a text, in any order. Words of three and more letters match longer words, too. `"quoted words"` occur in this order, as they are. 1 to 200 characters.',
    }),
  agent: z.string().min(1).max(200).optional().meta({ description: "Only texts of the agent with this name." }),
});
export type SearchQuery = z.infer<typeof SearchQuery>;

export const SearchMatch = z
  .object({
    agent: z.string().meta({ description: "The agent's name." }),
    conversation: z
      .object({ id: z.int(), title: z.string().nullable() })
      .meta({ description: "The turn's conversation: its number and title." }),
    turnId: z.string(),
    kind: z.enum(["message", "reply"]).meta({ description: "Whether a message or a reply matches." }),
    createdAt: z.iso.datetime().meta({ description: "When the turn began." }),
    excerpt: z
      .string()
      .meta({ description: "The text around the first match, up to 200 characters, with spaces for line breaks." }),
    matches: z
      .array(z.object({ start: z.int(), end: z.int() }))
      .meta({ description: "Where the excerpt matches: its UTF-16 units from `start` up to `end`." }),
  })
  .meta({ id: "SearchMatch" });
export type SearchMatch = z.infer<typeof SearchMatch>;

export const SearchResult = z
  .object({ data: z.array(SearchMatch), nextCursor: z.string().nullable() })
  .meta({ id: "SearchResult", description: "The matching messages and replies, the newest turn first." });
