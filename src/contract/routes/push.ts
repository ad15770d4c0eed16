import { z } from "zod";
import {
  CreatePushSubscription,
  maximumPushSubscriptions,
  PushSubscription,
  PushSubscriptionList,
  PushSubscriptionParams,
} from "../push.ts";
import { people, route } from "../route.ts";

/** The browsers that show a person's notifications. */
export const pushRoutes = {
  listPushSubscriptions: route({
    method: "GET",
    path: "/me/push-subscriptions",
    summary: "List the browsers that show the person's notifications",
    responses: { 200: PushSubscriptionList },
    permission: people,
  }),
  createPushSubscription: route({
    method: "POST",
    path: "/me/push-subscriptions",
    summary: "Have a browser show the person's notifications",
    description: `A person has up to ${maximumPushSubscriptions}: a new one replaces the oldest. A browser that is known already keeps its id.`,
    body: CreatePushSubscription,
    responses: { 201: PushSubscription },
    permission: people,
  }),
  deletePushSubscription: route({
    method: "DELETE",
    path: "/me/push-subscriptions/{id}",
    summary: "Stop notifications in a browser",
    params: PushSubscriptionParams,
    responses: { 204: z.null() },
    permission: people,
  }),
};
