import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import type { Capacity } from "../contract/capacity.ts";
import { handle } from "../core/http/handle.ts";

/** `/admin/capacity`: what the host has for machines. */
export function capacityRoutes(capacity: () => Capacity): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getCapacity, async () => capacity());
  };
}
