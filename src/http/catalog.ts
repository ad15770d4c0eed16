import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { ListQuery } from "../contract/agents.ts";
import { type Model, ModelList } from "../contract/models.ts";
import { RuntimeList, type RuntimeRecord } from "../contract/runtimes.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** What the routes of models and runtimes need. */
export interface CatalogService {
  /** All models that can be reached, by id. */
  models(): Promise<Model[]>;
  /** The runtimes that agents can be built on in this installation. */
  runtimeRecords(): Promise<RuntimeRecord[]>;
}

/** `/models` and `/runtimes`: what an agent may be made of. */
export function catalogRoutes(service: CatalogService): FastifyPluginAsyncZod {
  return async (app) => {
    const modelsSchema = { summary: "List the models", querystring: ListQuery, response: { 200: ModelList } };
    app.get("/models", { schema: modelsSchema }, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, /^[a-z]+\/.+$/);
      const models = await service.models();
      const rest = after === null ? models : models.filter(({ id }) => id > after);
      return pageOf(rest.slice(0, limit + 1), limit, ({ id }) => id);
    });

    const runtimesSchema = { summary: "List the runtimes and what each can do", response: { 200: RuntimeList } };
    app.get("/runtimes", { schema: runtimesSchema }, async () => ({
      data: await service.runtimeRecords(),
      nextCursor: null,
    }));
  };
}
