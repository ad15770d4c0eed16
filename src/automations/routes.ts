import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../core/http/paging.ts";
import { toAutomationView, toRunView } from "./automation.ts";
import { timesOf } from "./timing.ts";

/** `/automations` and `/schedule-times` */
export function automationRoutes({ automations, stores }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.createAutomation, async ({ caller, body, attempt }, reply) => {
      const automation = await automations.create(caller, body, attempt);
      reply.header("location", `/automations/${automation.name}`);
      return toAutomationView(automation);
    });

    handle(app, routes.listAutomations, async ({ caller, query }) => {
      const { limit, cursor, agent = null } = query;
      const after = fromCursor(cursor, /^[a-z][a-z0-9-]{0,59}$/);
      const page = await automations.list(caller, limit + 1, after, agent);
      return pageOf(page.map(toAutomationView), limit, ({ name }) => name);
    });

    handle(app, routes.getAutomation, async ({ caller, params }) =>
      toAutomationView(await automations.find(caller, params.name)),
    );

    handle(app, routes.changeAutomation, async ({ caller, params, body }) =>
      toAutomationView(await automations.change(caller, params.name, body)),
    );

    handle(app, routes.deleteAutomation, async ({ caller, params }) => {
      await automations.remove(caller, params.name);
      return null;
    });

    handle(app, routes.runAutomation, async ({ caller, params, attempt }) =>
      toRunView(await automations.run(caller, params.name, attempt)),
    );

    handle(app, routes.pauseAutomation, async ({ caller, params }) =>
      toAutomationView(await automations.pause(caller, params.name)),
    );

    handle(app, routes.resumeAutomation, async ({ caller, params }) =>
      toAutomationView(await automations.resume(caller, params.name)),
    );

    handle(app, routes.listAutomationRuns, async ({ caller, params, query }) => {
      const { limit, cursor } = query;
      const page = await automations.runs(caller, params.name, limit + 1, fromCursor(cursor, timedPattern));
      return pageOf(page.map(toRunView), limit, timedKey);
    });

    handle(app, routes.listScheduleTimes, async ({ query: { cron, timeZone, count } }) => {
      const now = await stores.automations.now();
      return { times: timesOf(cron, timeZone, now, count).map((time) => time.toISOString()) };
    });
  };
}
