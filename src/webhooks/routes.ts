import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../core/http/paging.ts";
import { toDeliveryView, toWebhookView } from "./webhook.ts";

/** `/webhooks` */
export function webhookRoutes({ webhooks }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.createWebhook, async ({ caller, body, attempt }, reply) => {
      const { webhook, secret } = await webhooks.create(caller, body, attempt);
      reply.header("location", `/webhooks/${webhook.id}`);
      return { ...toWebhookView(webhook), secret };
    });

    handle(app, routes.listWebhooks, async ({ caller, query: { limit, cursor } }) => {
      const page = await webhooks.list(caller, limit + 1, fromCursor(cursor, timedPattern));
      return pageOf(page.map(toWebhookView), limit, timedKey);
    });

    handle(app, routes.getWebhook, async ({ caller, params }) => toWebhookView(await webhooks.find(caller, params.id)));

    handle(app, routes.changeWebhook, async ({ caller, params, body }) =>
      toWebhookView(await webhooks.change(caller, params.id, body)),
    );

    handle(app, routes.deleteWebhook, async ({ caller, params }) => {
      await webhooks.remove(caller, params.id);
      return null;
    });

    handle(app, routes.rotateWebhookSecret, async ({ caller, params }) => {
      const { webhook, secret } = await webhooks.rotate(caller, params.id);
      return { ...toWebhookView(webhook), secret };
    });

    handle(app, routes.testWebhook, async ({ caller, params, attempt }) =>
      toDeliveryView(await webhooks.test(caller, params.id, attempt)),
    );

    handle(app, routes.listWebhookDeliveries, async ({ caller, params, query: { limit, cursor } }) => {
      const page = await webhooks.deliveries(caller, params.id, limit + 1, fromCursor(cursor, timedPattern));
      return pageOf(page.map(toDeliveryView), limit, timedKey);
    });

    handle(app, routes.redeliver, async ({ caller, params }) =>
      toDeliveryView(await webhooks.redeliver(caller, params.id, params.deliveryId)),
    );
  };
}
