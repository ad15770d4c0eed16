import { z } from "zod";
import { type CommandEvent, MachineUser, maximumInputBytes } from "./commands.ts";
import { uuidPattern } from "./ids.ts";
import { TicketQuery } from "./tickets.ts";

const size = (usual: number) => z.coerce.number().int().min(1).max(1_000).default(usual);

export const TerminalQuery = z.strictObject({
  session: z.string().regex(uuidPattern, "A session's id is a UUID.").optional().meta({
    description: "The session to join, with what it has shown lately. Without it, a new one begins.",
  }),
  after: z.coerce.number().int().min(0).optional().meta({
    description: "Of the session, only what came after the event with this id: for a viewer who comes back.",
  }),
  cols: size(80),
  rows: size(24),
  user: MachineUser.default("agent").meta({ description: "The user of a new session." }),
  ticket: TicketQuery,
});

/** The most that a terminal's input may carry in one frame, as text or in base64. */
const maximumFrameText = maximumInputBytes;

/** What a viewer of a terminal sends, each as a frame of JSON. */
export const TerminalInput = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("input"),
      id: z.string().min(1).max(100).optional().meta({
        description: "Names the input, which is read once however often it is sent, and answered with `accepted`.",
      }),
      text: z.string().max(maximumFrameText).optional(),
      base64: z.base64().max(maximumFrameText).optional(),
    }),
    z.strictObject({ type: z.literal("resize"), cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) }),
  ])
  .meta({ id: "TerminalInput" });
export type TerminalInput = z.infer<typeof TerminalInput>;

/**
 * What the service sends to a terminal's viewer, each as a frame of JSON: first `session`, then the session's events
 * with their ids, up to `command.exited`.
 */
export type TerminalFrame =
  | { type: "session"; session: string }
  | ({ id: number } & z.infer<typeof CommandEvent>)
  | { type: "accepted"; id: string }
  | { type: "error"; code: string; message: string };
