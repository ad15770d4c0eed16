import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import { handle } from "../core/http/handle.ts";
import type { Principals } from "./principals.ts";
import type { Programs } from "./programs.ts";

/** `/account`: the caller, and the programs of others that act for it. */
export function accountRoutes(principals: Principals, programs: Programs): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getAccount, async ({ caller }) => principals.account(caller));
    handle(app, routes.listPrograms, async ({ caller }) => ({ data: await programs.list(caller.accountId) }));
    handle(app, routes.endProgram, async ({ caller, params }) => {
      await programs.end(caller.accountId, params.id);
      return null;
    });
  };
}
