import type { AccountEvent } from "@berth/client";
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import { news, reachability } from "./client.ts";
import { makesStale } from "./stale.ts";

/** Events within this time are handled together. */
const gatherMs = 100;

/** Calls back after events for which `concerns` holds, and whenever some may have been missed. */
export function useAccountEvents(concerns: (event: AccountEvent) => boolean, changed: () => void): void {
  const handle = useEffectEvent((events: readonly AccountEvent[]) => {
    if (events.some((event) => event.type.startsWith("events.") || concerns(event))) changed();
  });
  useEffect(() => gathered(handle), []);
}

/** Reloads the queries on the page whose data the account's events have changed. */
export function useLiveQueries(): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      gathered((events) => {
        const predicate = ({ queryKey }: { queryKey: QueryKey }) => events.some((each) => makesStale(each, queryKey));
        void queries.invalidateQueries({ predicate });
      }),
    [queries],
  );
}

export function useIsReachable(): boolean {
  return useSyncExternalStore(reachability.watch, () => reachability.current);
}

/** Calls back with the events of each tenth of a second. Returns a function that ends this. */
function gathered(handle: (events: readonly AccountEvent[]) => void): () => void {
  let waiting: AccountEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = news.listen((event) => {
    waiting.push(event);
    timer ??= setTimeout(() => {
      const events = waiting;
      waiting = [];
      timer = undefined;
      handle(events);
    }, gatherMs);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}
