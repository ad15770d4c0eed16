import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { uuidPattern } from "../contract/ids.ts";
import { routes } from "../contract/routes.ts";
import { UserName } from "../contract/users.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import { toUserView } from "./users.ts";

/** `/admin/users`: users of the built-in identity provider, for the operator. */
export function userRoutes(context: AppContext): FastifyPluginAsync {
  const { users } = context;
  return async (app) => {
    handle(app, routes.listUsers, async ({ query: { limit, cursor } }) => {
      const page = await users.list(limit + 1, fromCursor(cursor, uuidPattern));
      const { data, nextCursor } = pageOf(page, limit, ({ id }) => id);
      return { data: data.map(toUserView), nextCursor };
    });

    handle(app, routes.createUser, async ({ body }, reply) => {
      const { user, link } = await users.create(body.name);
      reply.header("cache-control", "no-store");
      return { ...toUserView(user), link };
    });

    handle(app, routes.resetUser, async ({ params }, reply) => {
      const { user, link } = await users.reset(possibleName(params.name));
      reply.header("cache-control", "no-store");
      return { ...toUserView(user), link };
    });

    handle(app, routes.replaceSigningKeys, async ({ body }) => ({
      oldKeysUntil: (await users.replaceSigningKeys(body)).toISOString(),
    }));

    handle(app, routes.disableUser, async ({ params }) =>
      toUserView(await users.setDisabled(possibleName(params.name), true)),
    );
    handle(app, routes.enableUser, async ({ params }) =>
      toUserView(await users.setDisabled(possibleName(params.name), false)),
    );
  };
}

/** Throws `user_not_found` for an invalid name, which the database might not accept. */
function possibleName(name: string): string {
  if (UserName.safeParse(name).success) return name;
  throw new BerthError("user_not_found", "There is no user with this name.");
}
