import { z } from "zod";
import { InboxChanged, InboxItemParams, InboxList, InboxQuery, InboxSelection, InboxUnread } from "../inbox.ts";
import { people, route } from "../route.ts";

/** Items that wait for the signed-in person in the workspace. */
export const inboxRoutes = {
  listInbox: route({
    method: "GET",
    path: "/inbox",
    summary: "List what needs the person's attention",
    query: InboxQuery,
    responses: { 200: InboxList },
    permission: people,
  }),
  countInbox: route({
    method: "GET",
    path: "/inbox/unread",
    summary: "Count the unread inbox items of each kind",
    responses: { 200: InboxUnread },
    permission: people,
  }),
  readInbox: route({
    method: "POST",
    path: "/inbox/read",
    summary: "Mark inbox items as read",
    body: InboxSelection,
    responses: { 200: InboxChanged },
    permission: people,
    isAudited: false,
  }),
  dismissInbox: route({
    method: "POST",
    path: "/inbox/dismiss",
    summary: "Remove inbox items",
    body: InboxSelection,
    responses: { 200: InboxChanged },
    permission: people,
  }),
  dismissInboxItem: route({
    method: "DELETE",
    path: "/inbox/{id}",
    summary: "Remove an inbox item",
    params: InboxItemParams,
    responses: { 204: z.null() },
    permission: people,
  }),
};
