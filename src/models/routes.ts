import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";

/** `/models` and `/runtimes`: the choices for an agent. */
export function catalogRoutes(context: AppContext): FastifyPluginAsync {
  const { models: choice } = context;
  return async (app) => {
    handle(app, routes.listModels, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, /^[a-z][a-z0-9-]*\/.+$/);
      const models = await choice.models(request.caller);
      const rest = after === null ? models : models.filter(({ id }) => id > after);
      return pageOf(rest.slice(0, limit + 1), limit, ({ id }) => id);
    });

    handle(app, routes.listRuntimes, async ({ caller }) => ({
      data: await choice.runtimeRecords(caller),
      nextCursor: null,
    }));
  };
}
