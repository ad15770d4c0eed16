import { z } from "zod";
import { ListQuery } from "../agents.ts";
import {
  AgentNotify,
  AgentNotifyList,
  ChangeProfile,
  Profile,
  ProfileAgentParams,
  SetAgentNotify,
  TestResult,
  UnsubscribeParams,
  VerifyEmail,
} from "../notifications.ts";
import { people, route } from "../route.ts";

/** How the signed-in person is notified. */
export const notificationRoutes = {
  getProfile: route({
    method: "GET",
    path: "/me/profile",
    summary: "Show how the person is notified",
    responses: { 200: Profile },
    permission: people,
  }),
  changeProfile: route({
    method: "PATCH",
    path: "/me/profile",
    summary: "Change how the person is notified",
    description:
      "Another e-mail address is used once the person has opened the link that is sent to it; a new link replaces the one before.",
    body: ChangeProfile,
    responses: { 200: Profile },
    permission: people,
  }),
  verifyEmail: route({
    method: "POST",
    path: "/me/profile/verify-email",
    summary: "Confirm an e-mail address with the token of its link",
    description: "The link works once and for 24 hours, for the person who asked for it. An older one is 410.",
    body: VerifyEmail,
    responses: { 200: Profile },
    permission: people,
  }),
  testNotifications: route({
    method: "POST",
    path: "/me/profile/test",
    summary: "Send a test notification over all channels",
    description: "Also in quiet hours. The answer has the outcome of each channel.",
    responses: { 200: TestResult },
    permission: people,
  }),
  listAgentNotify: route({
    method: "GET",
    path: "/me/profile/agents",
    summary: "List the person's choices for single agents of the workspace",
    query: ListQuery,
    responses: { 200: AgentNotifyList },
    permission: people,
  }),
  setAgentNotify: route({
    method: "PUT",
    path: "/me/profile/agents/{name}",
    summary: "Choose what the person hears of an agent",
    params: ProfileAgentParams,
    body: SetAgentNotify,
    responses: { 200: AgentNotify },
    permission: people,
  }),
  deleteAgentNotify: route({
    method: "DELETE",
    path: "/me/profile/agents/{name}",
    summary: "Return to the person's default for an agent",
    params: ProfileAgentParams,
    responses: { 204: z.null() },
    permission: people,
  }),
  openUnsubscribe: route({
    method: "GET",
    path: "/unsubscribe/{token}",
    summary: null,
    params: UnsubscribeParams,
    responses: {},
    permission: "public",
  }),
  unsubscribe: route({
    method: "POST",
    path: "/unsubscribe/{token}",
    summary: null,
    params: UnsubscribeParams,
    responses: { 204: z.null() },
    permission: "public",
  }),
};
