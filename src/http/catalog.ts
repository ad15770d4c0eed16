import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { ListQuery } from "../contract/agents.ts";
import { ModelList } from "../contract/models.ts";
import { RuntimeList } from "../contract/runtimes.ts";
import type { ModelChoice } from "../service/models.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** `/models` and `/runtimes`: what an agent may be made of. */
export function catalogRoutes(choice: ModelChoice): FastifyPluginAsyncZod {
  return async (app) => {
    const modelsSchema = { summary: "List the models", querystring: ListQuery, response: { 200: ModelList } };
    app.get("/models", { schema: modelsSchema }, async (request) => {
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, /^[a-z]+\/.+$/);
      const models = await choice.models();
      const rest = after === null ? models : models.filter(({ id }) => id > after);
      return pageOf(rest.slice(0, limit + 1), limit, ({ id }) => id);
    });

    const runtimesSchema = { summary: "List the runtimes and what each can do", response: { 200: RuntimeList } };
    app.get("/runtimes", { schema: runtimesSchema }, async () => ({
      data: await choice.runtimeRecords(),
      nextCursor: null,
    }));
  };
}
