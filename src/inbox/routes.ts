import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";

/** `/inbox` */
export function inboxRoutes({ stores: { inbox } }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listInbox, async ({ caller, query: { limit, cursor, ...filter } }) => {
      const before = fromCursor(cursor, /^\d{1,15}$/);
      const found = await inbox.list(caller, filter, { limit: limit + 1, before });
      return pageOf(found, limit, ({ position }) => String(position));
    });

    handle(app, routes.countInbox, ({ caller }) => inbox.unread(caller));

    handle(app, routes.readInbox, async ({ caller, body }) => {
      const changed = await inbox.read(caller, body);
      return { changed, unread: await inbox.unread(caller) };
    });

    handle(app, routes.dismissInbox, async ({ caller, body }) => {
      const changed = await inbox.dismiss(caller, body);
      return { changed, unread: await inbox.unread(caller) };
    });

    handle(app, routes.dismissInboxItem, async ({ caller, params: { id } }) => {
      if (isUuid(id) && (await inbox.dismiss(caller, { ids: [id] })) === 1) return null;
      throw new BerthError(
        "inbox_item_not_found",
        "The inbox has no item with this id: it was removed, or it is settled.",
      );
    });
  };
}
