import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { toSnapshotView } from "./snapshot.ts";

/** `/agents/{name}/snapshots`, rollbacks and upgrades. */
export function snapshotRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, snapshots } = context;
  return async (app) => {
    handle(app, routes.createSnapshot, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return toSnapshotView(await snapshots.take(agent, request.body, request.attempt, request.caller));
    });

    handle(app, routes.listSnapshots, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: (await snapshots.list(agent)).map(toSnapshotView) };
    });

    handle(app, routes.removeSnapshot, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      await snapshots.remove(agent, request.params.snapshot);
      return null;
    });

    handle(app, routes.upgradeAgent, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const upgraded = await snapshots.upgrade(agent, request.caller);
      return agents.view(request.query.wait ? await agents.settled(upgraded) : upgraded, request.caller);
    });

    handle(app, routes.rollBack, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const rolledBack = await snapshots.rollBack(agent, request.body.snapshot, request.attempt, request.caller);
      return agents.view(request.query.wait ? await agents.settled(rolledBack) : rolledBack, request.caller);
    });
  };
}
