import { z } from "zod";

/** For how long a ticket is good, in milliseconds. */
export const ticketMs = 30_000;

export const TicketRequest = z
  .strictObject({
    for: z.enum(["terminal"]).meta({ description: "What the ticket opens." }),
  })
  .meta({ id: "TicketRequest" });
export type TicketRequest = z.infer<typeof TicketRequest>;

export const Ticket = z
  .object({
    ticket: z.string().meta({ description: "Good once, as `?ticket=`, for this agent and purpose." }),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: "Ticket" });
export type Ticket = z.infer<typeof Ticket>;
