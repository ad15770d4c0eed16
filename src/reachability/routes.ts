import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { checkReachability } from "./reachability.ts";

/** `/admin/reachability`: whether others reach the service at its public address. */
export function reachabilityRoutes({ address, secretKey, certificates }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getReachability, async () => ({
      ...(await checkReachability(address.public, secretKey)),
      certificate: verdictOf(certificates?.status ?? null),
    }));
  };
}

function verdictOf(status: { ok: boolean; message: string } | null) {
  return status && { ok: status.ok, message: `Certificate: ${status.message}` };
}
