import { z } from "zod";
import { hexOf, uuidOf } from "./ids.ts";
import { Metadata } from "./openai.ts";

// OpenAI's Conversations API (https://platform.openai.com/docs/api-reference/conversations), with an agent's
// conversations.

/** The most conversations without a response, of a person or key. */
export const maximumUnbound = 200;
/** The most items that a request may add, and that a conversation keeps. */
const maximumAddedItems = 20;
export const maximumKeptItems = 200;
/** The most bytes of a conversation's kept items, as JSON. */
export const maximumKeptBytes = 128 * 1024;
/** How long an unused conversation without a response is kept. */
export const unboundDays = 30;

/** A conversation's id as clients see it. */
export function conversationId(id: string): string {
  return `conv_${hexOf(id)}`;
}

/** The id within a client's id; null if it is not of this form. */
export function fromConversationId(text: string): string | null {
  const [, hex] = /^conv_([0-9a-f]{32})$/.exec(text) ?? [];
  return hex === undefined ? null : uuidOf(hex);
}

/** An item as clients send it: a message. Other types are rejected by name. */
const NewItem = z
  .looseObject({
    type: z.literal("message").optional(),
    role: z.enum(
      ["user", "assistant", "system", "developer"],
      'The role of an item is "user", "assistant", "system" or "developer".',
    ),
    content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })).max(1_000)]),
  })
  .meta({ description: "A message of text. Other items belong to responses, which add them." });
export type NewItem = z.infer<typeof NewItem>;

const items = z
  .array(NewItem)
  .max(maximumAddedItems, `items is limited to ${maximumAddedItems} in one request.`)
  .meta({ description: "Messages from before the first response; the agent gets them as an earlier conversation." });

export const CreateOpenAiConversation = z
  .looseObject({ items: items.nullish(), metadata: Metadata.nullish() })
  .nullish()
  .meta({ id: "CreateOpenAiConversation", description: "A request of OpenAI's Conversations API." });
export type CreateOpenAiConversation = z.infer<typeof CreateOpenAiConversation>;

export const ChangeOpenAiConversation = z
  .looseObject({ metadata: Metadata.nullable() })
  .meta({ id: "ChangeOpenAiConversation" });

export const AddItems = z.looseObject({ items: items.min(1, "items must not be empty.") }).meta({ id: "AddItems" });

export const OpenAiConversationParams = z.object({
  conversationId: z.string().meta({ description: "The conversation's id, as `conv_…`." }),
});
export const OpenAiItemParams = OpenAiConversationParams.extend({
  itemId: z.string().max(200).meta({ description: "The item's id." }),
});

const hint = z.unknown().optional().meta({ description: "Accepted, without effect." });
export const IncludeQuery = z.strictObject({ "include[]": hint, include: hint });

export const OpenAiConversation = z
  .looseObject({
    id: z.string(),
    object: z.literal("conversation"),
    created_at: z.int(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: "OpenAiConversation", description: "A conversation of OpenAI's Conversations API." });
export type OpenAiConversation = z.infer<typeof OpenAiConversation>;
export const DeletedOpenAiConversation = z.looseObject({
  id: z.string(),
  object: z.literal("conversation.deleted"),
  deleted: z.literal(true),
});
export const OpenAiItem = z.looseObject({ id: z.string(), type: z.string() });
