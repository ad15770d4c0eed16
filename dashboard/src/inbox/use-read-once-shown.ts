import { useQuery } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { useIsVisible } from "../ui/use-is-visible.ts";
import { readConversation, unreadQuery } from "./queries.ts";

/** The items of a turn that has ended are there within this time, in milliseconds. */
const itemsMs = 3_000;

/**
 * Reads the inbox's items of a conversation while a person sees it, and those of turns that ended just before they leave it.
 * `isRunning`: whether a turn of it runs, whose end they do not see if they leave.
 */
export function useReadOnceShown(agent: string, conversation: number, isRunning: boolean): void {
  const { data: unread = 0 } = useQuery(unreadQuery);
  const isVisible = useIsVisible();
  const read = useEffectEvent(() => void readConversation(agent, conversation).catch(() => {}));
  useEffect(() => {
    if (unread > 0 && isVisible) read();
  }, [unread, isVisible]);
  const leave = useEffectEvent(() => {
    if (!isRunning) setTimeout(() => void readConversation(agent, conversation).catch(() => {}), itemsMs);
  });
  useEffect(() => {
    if (isVisible) return () => leave();
  }, [isVisible]);
}
