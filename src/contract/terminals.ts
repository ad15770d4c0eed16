import { z } from "zod";
import { type CommandEvent, MachineUser, maximumInputBytes } from "./commands.ts";
import { uuidPattern } from "./ids.ts";
import { TicketQuery } from "./tickets.ts";

const size = (usual: number) => z.coerce.number().int().min(1).max(1_000).default(usual);

export const TerminalQuery = z.strictObject({
  session: z.string().regex(uuidPattern, "A session's id must be a UUID.").optional().meta({
    description: "The session to join, with its recent output. Default: a new session.",
  }),
  after: z.coerce.number().int().min(0).optional().meta({
    description: "Only the session's events after the event with this id, for a viewer that reconnects.",
  }),
  cols: size(80),
  rows: size(24),
  user: MachineUser.default("agent").meta({ description: "The user of a new session." }),
  ticket: TicketQuery,
});

/** The limit of a terminal's input in one frame, as text or in base64. */
const maximumFrameText = maximumInputBytes;

/** A frame from a viewer of a terminal, as JSON. */
export const TerminalInput = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("input"),
      id: z.string().min(1).max(100).optional().meta({
        description: "Identifies the input: repeats are ignored. Answered with `accepted`.",
      }),
      text: z.string().max(maximumFrameText).optional(),
      base64: z.base64().max(maximumFrameText).optional(),
    }),
    z.strictObject({ type: z.literal("resize"), cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) }),
  ])
  .meta({ id: "TerminalInput" });
export type TerminalInput = z.infer<typeof TerminalInput>;

/**
 * A frame from the service to a terminal's viewer, as JSON: first `session`, then the session's events with their ids,
 * up to `command.exited`.
 */
export type TerminalFrame =
  | { type: "session"; session: string }
  | ({ id: number } & z.infer<typeof CommandEvent>)
  | { type: "accepted"; id: string }
  | { type: "error"; code: string; message: string };
