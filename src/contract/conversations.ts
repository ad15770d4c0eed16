import { z } from "zod";
import { AgentParams, ListQuery } from "./agents.ts";
import { CreatedBy } from "./authors.ts";

/** The most conversations of an agent, and of them those that one external agent key may create. */
export const maximumConversations = 1_000;
export const maximumConversationsOfKey = 100;

/** The most characters of a title that is taken from a message. */
export const titleCharacters = 60;

const titleRule = "1 to 200 characters without line breaks";

const Title = z
  .string(`A title has ${titleRule}.`)
  .trim()
  .min(1, `A title has ${titleRule}.`)
  .max(200, `A title has ${titleRule}.`)
  .refine((title) => !/\p{Cc}|[\u2028\u2029]/u.test(title), `A title has ${titleRule}.`)
  .meta({ description: `Its title, ${titleRule}.` });

export const ConversationNumber = z.int().min(1).max(1_000_000_000);

const time = z.iso.datetime();

export const Conversation = z
  .object({
    id: z.int().meta({ description: "Its number: 1, 2, …, in the order of creation." }),
    title: z
      .string()
      .nullable()
      .meta({ description: "The first 60 characters of its first message, or what was set. Null: it is empty." }),
    current: z.boolean().meta({ description: "Whether messages that name no conversation go to it." }),
    forkedFrom: z
      .object({ conversation: z.int(), turnId: z.string() })
      .nullable()
      .meta({ description: "The turn that it continues from. Null: it began empty, or that turn was deleted." }),
    createdBy: CreatedBy,
    createdAt: time,
    lastTurnAt: time.nullable().meta({ description: "When its last turn began." }),
  })
  .meta({ id: "Conversation" });
export type Conversation = z.infer<typeof Conversation>;

export const ConversationList = z
  .object({ data: z.array(Conversation), nextCursor: z.string().nullable() })
  .meta({ id: "ConversationList", description: "The agent's conversations, the newest activity first." });

export const ConversationsQuery = ListQuery.extend({
  since: z.iso
    .datetime({ offset: true, message: "A time is ISO 8601, such as 2030-01-31T12:00:00Z." })
    .optional()
    .meta({ description: "Only conversations with a turn that began after this time." }),
});

export const ConversationParams = AgentParams.extend({
  conversation: z.string().meta({ description: "The conversation's number." }),
});

/** A conversation in an agent's archive. */
export const ArchivedConversation = z.object({
  number: ConversationNumber,
  title: z
    .string()
    .max(2_000)
    .refine((title) => !title.includes("\0"), "A title must not contain null characters.")
    .nullable(),
  /** The runtime that has its session; null: none. */
  runtime: z.string().max(100).nullable(),
  /** The replay of what its session does not contain; null: none, or the archive has too many. */
  retold: z
    .object({
      text: z
        .string()
        .max(200_000)
        .refine((told) => !told.includes("\0"), "A replayed conversation must not contain null characters."),
      /** Turns before this time are in the text. */
      at: time,
    })
    .nullable()
    .default(null),
  createdAt: time,
  lastTurnAt: time.nullable(),
});
export type ArchivedConversation = z.infer<typeof ArchivedConversation>;

const current = z.boolean().meta({ description: "Whether it becomes the agent's current conversation." });

export const CreateConversation = z
  .strictObject({
    title: Title.optional(),
    current: current.default(false),
    from: z
      .strictObject({ turn: z.string().max(100) })
      .optional()
      .meta({
        description:
          "Continue from a turn of the agent, in whatever conversation: its messages and replies up to this turn are replayed to the runtime, as text. Default: begin empty.",
      }),
  })
  .meta({ id: "CreateConversation" });
export type CreateConversation = z.infer<typeof CreateConversation>;

export const ChangeConversation = z
  .strictObject({
    title: Title.optional(),
    current: z.literal(true, "current can only be true: make another conversation current instead.").optional().meta({
      description: "Make it the agent's current conversation. Refused during a turn.",
    }),
  })
  .refine(({ title, current }) => title !== undefined || current !== undefined, {
    message: "At least one of title, current is required.",
  })
  .meta({ id: "ChangeConversation" });
export type ChangeConversation = z.infer<typeof ChangeConversation>;
