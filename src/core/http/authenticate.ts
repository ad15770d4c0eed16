import type { FastifyRequest } from "fastify";
import type { Admission, Tickets } from "../../accounts/tickets.ts";
import { BerthError } from "../../contract/errors.ts";
import type { Caller } from "./caller.ts";

export type FindCaller = (credential: string) => Promise<Caller | null>;

declare module "fastify" {
  interface FastifyRequest {
    ticket?: Pick<Admission, "agentId" | "path">;
    /** Set by `authenticate` before the handler runs. */
    caller: Caller;
  }
}

/**
 * Finds the caller by `Authorization: Bearer <key>` or, for a socket or a download, by the ticket in its address. Throws
 * `credentials_missing` or `credentials_invalid`.
 */
export async function authenticate(
  request: FastifyRequest,
  findCaller: FindCaller,
  tickets: Pick<Tickets, "take">,
): Promise<Caller> {
  const header = request.headers.authorization;
  const { socket, ticket: purpose = socket } = request.routeOptions.config.route ?? {};
  const { ticket } = request.query as { ticket?: unknown };
  if (purpose !== undefined && typeof ticket === "string") return byTicket(request, ticket, purpose, tickets);
  if (!header)
    throw new BerthError("credentials_missing", "An Authorization header of the form `Bearer <key>` is required.");
  const credential = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  const caller = credential ? await findCaller(credential) : null;
  if (!caller) {
    throw new BerthError("credentials_invalid", "The key or token is not valid: it is mistyped, expired or revoked.");
  }
  return caller;
}

async function byTicket(
  request: FastifyRequest,
  ticket: string,
  purpose: string,
  tickets: Pick<Tickets, "take">,
): Promise<Caller> {
  const admission = await tickets.take(ticket);
  if (admission?.purpose !== purpose)
    throw new BerthError(
      "credentials_invalid",
      "The ticket is not valid: it was used, has expired, or is for something else.",
    );
  request.ticket = admission;
  return admission.caller;
}
