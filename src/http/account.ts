import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import type { Principals } from "../service/principals.ts";
import { handle } from "./handle.ts";

/** `/account`: the caller. */
export function accountRoutes(principals: Principals): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getAccount, async ({ caller }) => principals.account(caller));
  };
}
