import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { checkReachability } from "./reachability.ts";

/** `/admin/reachability`: whether others reach the service at its public address. */
export function reachabilityRoutes({ address, secretKey }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getReachability, async () => checkReachability(address.public, secretKey));
  };
}
