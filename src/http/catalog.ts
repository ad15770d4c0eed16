import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import type { Model } from "../contract/models.ts";
import type { RuntimeRecord } from "../contract/runtimes.ts";
import { handle } from "./handle.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** What the routes of models and runtimes need. */
export interface CatalogService {
  /** All models that can be reached, by id. */
  models(): Promise<Model[]>;
  /** The runtimes that agents can be built on in this installation. */
  runtimeRecords(): Promise<RuntimeRecord[]>;
}

/** `/models` and `/runtimes`: what an agent may be made of. */
export function catalogRoutes(service: CatalogService): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listModels, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, /^[a-z]+\/.+$/);
      const models = await service.models();
      const rest = after === null ? models : models.filter(({ id }) => id > after);
      return pageOf(rest.slice(0, limit + 1), limit, ({ id }) => id);
    });

    handle(app, routes.listRuntimes, async () => ({
      data: await service.runtimeRecords(),
      nextCursor: null,
    }));
  };
}
