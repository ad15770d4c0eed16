import type { FastifyPluginAsync } from "fastify";
import type { Agents } from "../agents/agents.ts";
import { routes } from "../api/routes.ts";
import { handle } from "../core/http/handle.ts";
import type { Orphans } from "./orphans.ts";

/** `/admin/orphans`: the quarantine of this host, for the operator. */
export function orphanRoutes(orphans: Orphans, agents: Agents): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listOrphans, async () => ({ data: await orphans.list() }));
    handle(app, routes.giveBackOrphan, async ({ params, body, caller }) =>
      agents.view(await orphans.giveBack(caller.accountId, params.id, body)),
    );
    handle(app, routes.removeOrphan, async ({ params }) => {
      await orphans.remove(params.id);
      return null;
    });
  };
}
