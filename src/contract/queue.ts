import { z } from "zod";
import { QueueHeld } from "./agents.ts";
import { CreatedBy } from "./authors.ts";
import { Message } from "./chat.ts";
import { Attachments } from "./uploads.ts";

/** The most messages that wait for one agent. */
export const maximumQueue = 20;
/** The most of them that one external agent key may have. */
export const maximumQueueOfKey = 5;

const QueuedTurn = z
  .object({
    id: z.string().meta({ description: "The turn's id." }),
    position: z.int().meta({ description: "1: the next to begin." }),
    message: z.string(),
    attachments: Attachments,
    createdBy: CreatedBy,
    queuedAt: z.iso.datetime(),
  })
  .meta({ id: "QueuedTurn" });

export const Queue = z
  .object({
    held: QueueHeld,
    data: z.array(QueuedTurn).meta({ description: "In the order in which they begin." }),
  })
  .meta({ id: "Queue" });
export type Queue = z.infer<typeof Queue>;

export const QueueAction = z
  .strictObject({
    action: z.enum(["resume", "discard"]).meta({
      description: "`resume`: begin the next message and continue. `discard`: cancel all messages that wait.",
    }),
  })
  .meta({ id: "QueueAction" });
export type QueueAction = z.infer<typeof QueueAction>;

export const ChangeQueuedTurn = z
  .strictObject({
    message: Message.optional().meta({ description: "Its new text. Its images and files stay." }),
    position: z.int().min(1).max(maximumQueue).optional().meta({
      description: "Its new place in the queue; 1 is next. A number beyond the end is the end.",
    }),
  })
  .refine(({ message, position }) => message !== undefined || position !== undefined, {
    message: "At least one of message, position is required.",
  })
  .meta({ id: "ChangeQueuedTurn" });
export type ChangeQueuedTurn = z.infer<typeof ChangeQueuedTurn>;
