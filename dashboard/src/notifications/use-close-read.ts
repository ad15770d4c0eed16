import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { berth } from "../api/client.ts";
import { meQuery } from "../api/queries.ts";
import { useAccountEvents } from "../api/use-live.ts";

/** The subject of a shown notification (dashboard/worker/push.ts). */
interface About {
  workspaceId: string;
  items: readonly string[];
}

const mostUnread = 100;

/** Closes this browser's notifications whose items the person has read or settled, also on another device. */
export function useCloseRead(): void {
  const { data: me } = useQuery(meQuery);
  const workspace = me?.workspace.id;
  const close = useEffectEvent(() => {
    if (workspace !== undefined) void closeRead(workspace).catch(() => {});
  });
  useEffect(() => {
    if (workspace !== undefined) close();
  }, [workspace]);
  useAccountEvents(({ type }) => type === "inbox.changed", close);
}

async function closeRead(workspace: string): Promise<void> {
  // Pages over plain HTTP have no service worker.
  const registration = await navigator.serviceWorker?.getRegistration("/-/");
  const all = (await registration?.getNotifications()) ?? [];
  const shown = all.filter(({ data }) => {
    const about = data as Partial<About> | null;
    return about?.workspaceId === workspace && (about.items ?? []).length > 0;
  });
  if (shown.length === 0) return;
  const { data, nextCursor } = await berth.connection.call("listInbox", {
    query: { unread: "true", limit: mostUnread },
  });
  if (nextCursor !== null) return;
  const unread = new Set(data.map(({ id }) => id));
  for (const notification of shown) {
    const { items } = notification.data as About;
    if (!items.some((id) => unread.has(id))) notification.close();
  }
}
