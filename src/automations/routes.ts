import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../core/http/paging.ts";
import { type ListedAutomation, toAutomationView, toDeliveryView, toRunView } from "./automation.ts";
import { timesOf } from "./timing.ts";

/** `/automations` and `/schedule-times` */
export function automationRoutes({ automations, stores, address }: AppContext): FastifyPluginAsync {
  const toView = (automation: ListedAutomation) => toAutomationView(automation, address.public);
  return async (app) => {
    handle(app, routes.createAutomation, async (request, reply) => {
      const { caller, body, attempt } = request;
      const { automation, secret } = await automations.create(caller, body, attempt);
      isAbout(request, automation);
      reply.header("location", `/automations/${automation.name}`);
      return { ...toView(automation), secret };
    });

    handle(app, routes.listAutomations, async ({ caller, query }) => {
      const { limit, cursor, agent = null } = query;
      const after = fromCursor(cursor, /^[a-z][a-z0-9-]{0,59}$/);
      const page = await automations.list(caller, limit + 1, after, agent);
      return pageOf(page.map(toView), limit, ({ name }) => name);
    });

    handle(app, routes.getAutomation, async ({ caller, params }) =>
      toView(await automations.find(caller, params.name)),
    );

    handle(app, routes.changeAutomation, async (request) => {
      const { caller, params, body } = request;
      return toView(isAbout(request, await automations.change(caller, params.name, body)));
    });

    handle(app, routes.deleteAutomation, async (request) => {
      isAbout(request, await automations.remove(request.caller, request.params.name));
      return null;
    });

    handle(app, routes.runAutomation, async (request) => {
      const { caller, params, attempt } = request;
      const automation = isAbout(request, await automations.find(caller, params.name));
      return toRunView(await automations.run(automation, attempt));
    });

    handle(app, routes.pauseAutomation, async (request) =>
      toView(isAbout(request, await automations.pause(request.caller, request.params.name))),
    );

    handle(app, routes.resumeAutomation, async (request) =>
      toView(isAbout(request, await automations.resume(request.caller, request.params.name))),
    );

    handle(app, routes.listAutomationRuns, async ({ caller, params, query }) => {
      const { limit, cursor } = query;
      const page = await automations.runs(caller, params.name, limit + 1, fromCursor(cursor, timedPattern));
      return pageOf(page.map(toRunView), limit, timedKey);
    });

    handle(app, routes.rotateAutomationSecret, async (request) => {
      const { caller, params, body, attempt } = request;
      const { automation, secret } = await automations.rotateSecret(caller, params.name, body, attempt);
      return { ...toView(isAbout(request, automation)), secret };
    });

    handle(app, routes.listHookDeliveries, async ({ caller, params, query }) => {
      const { limit, cursor } = query;
      const page = await automations.deliveries(caller, params.name, limit + 1, fromCursor(cursor, timedPattern));
      const { data, nextCursor } = pageOf(page, limit, timedKey);
      return { data: data.map(toDeliveryView), nextCursor };
    });

    handle(app, routes.sendHookDeliveryAgain, async (request) => {
      const { caller, params, attempt } = request;
      const automation = isAbout(request, await automations.find(caller, params.name));
      return toRunView(await automations.sendAgain(automation, params.deliveryId, attempt));
    });

    handle(app, routes.listScheduleTimes, async ({ query: { cron, timeZone, count } }) => {
      const now = await stores.automations.now();
      return { times: timesOf(cron, timeZone, now, count).map((time) => time.toISOString()) };
    });
  };
}

/** Names the automation's agent for the audit entry, which only people that see the agent may see. */
function isAbout(request: FastifyRequest, automation: ListedAutomation): ListedAutomation {
  request.agent = { id: automation.agentId, name: automation.agentName };
  return automation;
}
