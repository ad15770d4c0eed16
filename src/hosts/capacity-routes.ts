import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";

/** `/admin/capacity`: the host's capacity for machines. */
export function capacityRoutes(context: AppContext): FastifyPluginAsync {
  const { lifecycle } = context;
  return async (app) => {
    handle(app, routes.getCapacity, async () => lifecycle.capacity());
  };
}
