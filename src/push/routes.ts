import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import type { PushSubscription } from "../contract/push.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import type { PushSubscriptionState } from "./store.ts";

/** `/me/push-subscriptions` */
export function pushRoutes({ push }: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listPushSubscriptions, async ({ caller }) => ({
      data: (await push.list(caller)).map(toView),
      publicKey: await push.publicKey(),
    }));

    handle(app, routes.createPushSubscription, async ({ caller, body, attempt }) =>
      toView(await push.subscribe(caller, body, attempt)),
    );

    handle(app, routes.deletePushSubscription, async ({ caller, params }) => {
      await push.unsubscribe(caller, params.id);
      return null;
    });
  };
}

/** Without what a message could be sent with. */
function toView({ id, endpoint, name, createdAt, sentAt, error }: PushSubscriptionState): PushSubscription {
  const service = new URL(endpoint).host;
  const times = { createdAt: createdAt.toISOString(), sentAt: sentAt?.toISOString() ?? null };
  return { id, name, service, ...times, error };
}
