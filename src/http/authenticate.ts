import type { FastifyRequest } from "fastify";
import { BerthError } from "../contract/errors.ts";

/** Who makes a request. */
interface Caller {
  accountId: string;
  keyId: string;
}

/** The caller of a key; null for one that is not, or no longer, valid. */
export type FindCaller = (key: string) => Promise<Caller | null>;

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `authenticate` before the handler runs. */
    caller: Caller;
  }
}

/** Finds the caller by `Authorization: Bearer <key>`. Throws `credentials_missing` or `credentials_invalid`. */
export function authenticate(findCaller: FindCaller) {
  return async (request: FastifyRequest): Promise<void> => {
    const header = request.headers.authorization;
    if (!header)
      throw new BerthError("credentials_missing", "An Authorization header of the form `Bearer <key>` is required.");
    const key = /^Bearer +(\S+) *$/i.exec(header)?.[1];
    const caller = key ? await findCaller(key) : null;
    if (!caller)
      throw new BerthError("credentials_invalid", "The key is not valid: it is mistyped, expired or revoked.");
    request.caller = caller;
  };
}
