import type { InboxItem } from "@berth/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { berth } from "../api/client.ts";

export type InboxFilter = { kind?: InboxItem["kind"]; unread?: "true" };

const page = 50;

/** The person's items, the newest first. */
export function inboxQuery(filter: InboxFilter) {
  return infiniteQueryOptions({
    queryKey: ["inbox", "items", filter],
    queryFn: ({ pageParam }) =>
      berth.connection.call("listInbox", {
        query: { ...filter, limit: page, ...(pageParam === null ? {} : { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

/** How many items are unread. */
export const unreadQuery = queryOptions({
  queryKey: ["inbox", "unread"],
  queryFn: async () => {
    const counts = await berth.inbox.unread();
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  },
});
