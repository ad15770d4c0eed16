import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid, uuidPattern } from "../contract/ids.ts";
import type { CreateKey } from "../contract/keys.ts";
import type { Caller } from "../service/caller.ts";
import type { Attempt } from "../service/idempotency.ts";
import { type KeyState, toKeyView } from "../service/keys.ts";
import { handle } from "./handle.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** What the keys' routes need. */
export interface KeyService {
  listKeys(accountId: string, limit: number, after: string | null): Promise<KeyState[]>;
  /** One that an earlier attempt has made gets another secret. Throws `request_invalid`, `forbidden`. */
  createKey(caller: Caller, asked: CreateKey, attempt: Attempt): Promise<{ stored: KeyState; key: string }>;
  /** False when the account has no such key. */
  revokeKey(accountId: string, id: string): Promise<boolean>;
}

/** `/keys`: the account's API keys. */
export function keyRoutes(service: KeyService): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listKeys, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, uuidPattern);
      const keys = await service.listKeys(request.caller.accountId, limit + 1, after);
      return pageOf(keys.map(toKeyView), limit, ({ id }) => id);
    });

    handle(app, routes.createKey, async (request, reply) => {
      const { stored, key } = await service.createKey(request.caller, request.body, request.attempt);
      reply.header("location", `/keys/${stored.id}`).header("cache-control", "no-store");
      return { ...toKeyView(stored), key };
    });

    handle(app, routes.revokeKey, async (request) => {
      const { id } = request.params;
      // What is no id may be a key itself, and is not repeated.
      if (!isUuid(id)) throw new BerthError("key_not_found", "This is no key's id: GET /keys lists them.");
      const revoked = await service.revokeKey(request.caller.accountId, id);
      if (!revoked) throw new BerthError("key_not_found", `There is no key ${id}.`);
      return null;
    });
  };
}
