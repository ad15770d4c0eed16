import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { berth } from "../api/client.ts";
import { useIsVisible } from "../ui/use-is-visible.ts";
import { unreadQuery } from "./queries.ts";

/** Reads the inbox's items of a conversation while a person sees it. */
export function useReadOnceShown(agent: string, conversation: number): void {
  const { data: unread = 0 } = useQuery(unreadQuery);
  const isVisible = useIsVisible();
  useEffect(() => {
    if (unread > 0 && isVisible) void berth.inbox.read({ agent, conversation }).catch(() => {});
  }, [agent, conversation, unread, isVisible]);
}

/** Reads the items of a turn that has ended while a person sees it; they may not be there yet. */
export function readIfSeen(agent: string, turnId: string): void {
  if (document.visibilityState === "visible") void berth.inbox.read({ agent, turnId }).catch(() => {});
}
