import { z } from "zod";
import { FilePath } from "./file-path.ts";

/** A ticket's lifetime, in milliseconds. */
export const ticketMs = 30_000;

/** A ticket's purpose: a terminal, a connection to a port or for SSH, a file, or a port's pages in a browser. */
export const TicketRequest = z
  .discriminatedUnion("for", [
    z.strictObject({ for: z.literal("terminal") }),
    z.strictObject({ for: z.literal("port") }),
    z.strictObject({ for: z.literal("ssh") }),
    z.strictObject({
      for: z.literal("file"),
      path: FilePath.meta({ description: "The file or folder to read, with the agent's permissions." }),
    }),
    z.strictObject({
      for: z.literal("preview"),
      port: z.int().min(1).max(65_535),
      path: z
        .string()
        .max(2_000)
        .regex(/^\/(?![/\\])/, "A path must begin with exactly one slash.")
        .default("/")
        .meta({ description: "The page to open." }),
    }),
  ])
  .meta({ id: "TicketRequest" });
export type TicketRequest = z.infer<typeof TicketRequest>;

export const Ticket = z
  .object({
    ticket: z.string().meta({ description: "Valid once, as `?ticket=`, for this agent and purpose." }),
    expiresAt: z.iso.datetime(),
    url: z.string().nullable().meta({ description: "For a preview: the address to open in a browser." }),
  })
  .meta({ id: "Ticket" });
export type Ticket = z.infer<typeof Ticket>;

/** The query of an endpoint that accepts a ticket. */
export const TicketQuery = z
  .string()
  .max(200)
  .optional()
  .meta({ description: "Replaces the header `authorization`: see tickets." });

/** The query of a WebSocket that accepts only a ticket. */
export const TicketOnly = z.strictObject({ ticket: TicketQuery });
