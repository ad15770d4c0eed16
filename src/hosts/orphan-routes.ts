import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";

/** `/admin/orphans`: the quarantine of this host, for the operator. */
export function orphanRoutes(context: AppContext): FastifyPluginAsync {
  const { orphans, agents } = context;
  return async (app) => {
    handle(app, routes.listOrphans, async () => ({ data: await orphans.list() }));
    handle(app, routes.giveBackOrphan, async ({ params, body, caller }) =>
      agents.view(await orphans.giveBack(caller.accountId, params.id, body), caller),
    );
    handle(app, routes.removeOrphan, async ({ params }) => {
      await orphans.remove(params.id);
      return null;
    });
  };
}
