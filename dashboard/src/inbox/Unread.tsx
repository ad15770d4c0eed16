import { useQuery } from "@tanstack/react-query";
import { useTitleCount } from "../ui/title.ts";
import { unreadQuery } from "./queries.ts";

/** The number of unread items, next to the inbox's name in the navigation. */
export function Unread() {
  const { data: count = 0 } = useQuery(unreadQuery);
  if (count === 0) return null;
  return (
    <span className="rounded-full bg-accent-fill px-1.5 text-xs font-medium text-white tabular-nums">
      {count > 99 ? "99+" : count}
      <span className="sr-only"> unread</span>
    </span>
  );
}

/** Counts the unread items in the browser tab's title. */
export function useUnreadInTitle(): void {
  const { data: count = 0 } = useQuery(unreadQuery);
  useTitleCount(count);
}
