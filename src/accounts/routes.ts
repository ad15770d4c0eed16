import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";

/** `/account`: the caller, and the third-party programs that act for it. */
export function accountRoutes(context: AppContext): FastifyPluginAsync {
  const { principals, programs } = context;
  return async (app) => {
    handle(app, routes.getAccount, async ({ caller }) => principals.account(caller));
    handle(app, routes.listPrograms, async ({ caller }) => ({ data: await programs.list(caller) }));
    handle(app, routes.endProgram, async ({ caller, params }) => {
      await programs.end(caller, params.id);
      return null;
    });
  };
}
