import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../core/http/paging.ts";
import { toKeyView } from "./keys.ts";

/** `/keys`: the account's API keys. */
export function keyRoutes(context: AppContext): FastifyPluginAsync {
  const { keys } = context;
  return async (app) => {
    handle(app, routes.listKeys, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, timedPattern);
      const page = await keys.list(request.caller, limit + 1, after);
      return pageOf(page.map(toKeyView), limit, timedKey);
    });

    handle(app, routes.createKey, async (request, reply) => {
      const { stored, key } = await keys.create(request.caller, request.body, request.attempt);
      reply.header("location", `/keys/${stored.id}`).header("cache-control", "no-store");
      return { ...toKeyView(stored), key };
    });

    handle(app, routes.revokeKey, async (request) => {
      const { id } = request.params;
      // An invalid id is not repeated: it may be a key.
      if (!isUuid(id)) throw new BerthError("key_not_found", "Not a valid key id; GET /keys lists them.");
      const revoked = await keys.revoke(request.caller, id);
      if (!revoked) throw new BerthError("key_not_found", `There is no key ${id}.`);
      return null;
    });
  };
}
