import { ListQuery } from "../agents.ts";
import { ModelList } from "../models.ts";
import { reading, route } from "../route.ts";
import { RuntimeList } from "../runtimes.ts";

/** The choices for an agent: models and runtimes. */
export const catalogRoutes = {
  listModels: route({
    method: "GET",
    path: "/models",
    summary: "List the models",
    query: ListQuery,
    responses: { 200: ModelList },
    permission: reading,
  }),
  listRuntimes: route({
    method: "GET",
    path: "/runtimes",
    summary: "List the runtimes and their features",
    responses: { 200: RuntimeList },
    permission: reading,
  }),
};
