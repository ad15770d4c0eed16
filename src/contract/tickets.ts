import { z } from "zod";
import { FilePath } from "./file-path.ts";

/** For how long a ticket is good, in milliseconds. */
export const ticketMs = 30_000;

/** What a ticket opens: a terminal, a connection to a port or for SSH, a file, or a port's pages in a browser. */
export const TicketRequest = z
  .discriminatedUnion("for", [
    z.strictObject({ for: z.literal("terminal") }),
    z.strictObject({ for: z.literal("port") }),
    z.strictObject({ for: z.literal("ssh") }),
    z.strictObject({
      for: z.literal("file"),
      path: FilePath.meta({ description: "The file or folder that it reads, with the agent's rights." }),
    }),
    z.strictObject({
      for: z.literal("preview"),
      port: z.int().min(1).max(65_535),
      path: z
        .string()
        .max(2_000)
        .regex(/^\/(?![/\\])/, "A path begins with one slash.")
        .default("/")
        .meta({ description: "The page to show." }),
    }),
  ])
  .meta({ id: "TicketRequest" });
export type TicketRequest = z.infer<typeof TicketRequest>;

export const Ticket = z
  .object({
    ticket: z.string().meta({ description: "Good once, as `?ticket=`, for this agent and purpose." }),
    expiresAt: z.iso.datetime(),
    url: z.string().nullable().meta({ description: "Of a preview: the address to open in a browser." }),
  })
  .meta({ id: "Ticket" });
export type Ticket = z.infer<typeof Ticket>;

/** In the query of what a ticket opens. */
export const TicketQuery = z
  .string()
  .max(200)
  .optional()
  .meta({ description: "In place of the header `authorization`: see tickets." });

/** The query of a WebSocket that takes nothing but a ticket. */
export const TicketOnly = z.strictObject({ ticket: TicketQuery });
