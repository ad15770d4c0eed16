import type { FastifyRequest } from "fastify";
import { BerthError } from "../contract/errors.ts";
import type { Caller } from "../service/caller.ts";

/** The caller with a key or token; null if it is not, or no longer, valid. */
export type FindCaller = (credential: string) => Promise<Caller | null>;

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `authenticate` before the handler runs. */
    caller: Caller;
  }
}

/** Finds the caller by `Authorization: Bearer <key>`. Throws `credentials_missing` or `credentials_invalid`. */
export async function authenticate(request: FastifyRequest, findCaller: FindCaller): Promise<Caller> {
  const header = request.headers.authorization;
  if (!header)
    throw new BerthError("credentials_missing", "An Authorization header of the form `Bearer <key>` is required.");
  const credential = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  const caller = credential ? await findCaller(credential) : null;
  if (!caller) {
    throw new BerthError("credentials_invalid", "The key or token is not valid: it is mistyped, expired or revoked.");
  }
  return caller;
}
