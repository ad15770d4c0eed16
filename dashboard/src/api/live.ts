import { type AccountEvent, ApiError } from "@berth/client";
import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { berth } from "./client.ts";

// What happens in the account, as the service tells it. A browser has six connections to a service, so of all its tabs
// one follows the events and tells the others; when it is closed, the next goes on where it was.

const retryMs = 2_000;
/** News that come together are read together. */
const gatherMs = 100;

const listeners = new Set<(event: AccountEvent) => void>();
let following: AbortController | null = null;
/** The last event's place; undefined before the first. */
let lastId: number | undefined;

function listen(listener: (event: AccountEvent) => void): () => void {
  listeners.add(listener);
  following ??= begin();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    following?.abort();
    following = null;
    lastId = undefined;
  };
}

function begin(): AbortController {
  const abort = new AbortController();
  const { signal } = abort;
  const channel = new BroadcastChannel("berth events");
  channel.onmessage = ({ data }: MessageEvent<AccountEvent>) => tell(data);
  signal.addEventListener("abort", () => channel.close());
  const lead = () => follow(signal, (event) => channel.postMessage(event));
  // Without TLS a browser has no locks, except on this machine: each tab follows for itself then.
  const leading = navigator.locks ? navigator.locks.request("berth events", { signal }, lead) : lead();
  leading.catch(() => {}); // Given up while it waited.
  return abort;
}

async function follow(signal: AbortSignal, share: (event: AccountEvent) => void): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const event of berth.events(lastId === undefined ? { signal } : { after: lastId, signal })) {
        tell(event);
        share(event);
      }
    } catch (error) {
      // The place is of another database, such as one before a restored backup.
      if (error instanceof ApiError && error.statusCode === 400) lastId = undefined;
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

function tell(event: AccountEvent): void {
  lastId = event.id;
  for (const listener of listeners) listener(event);
}

/** Calls back after events for which `concerns` holds, and whenever some may have been missed. */
export function useAccountEvents(concerns: (event: AccountEvent) => boolean, changed: () => void): void {
  const isNews = useEffectEvent((event: AccountEvent) => event.type.startsWith("events.") || concerns(event));
  const tellChanged = useEffectEvent(changed);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((event) => {
      if (!isNews(event)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        tellChanged();
      }, gatherMs);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
}

/** Reads again what the account's events say has changed, as far as somebody looks at it. */
export function useLiveQueries(): void {
  const queries = useQueryClient();
  useEffect(() => {
    let news: AccountEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((event) => {
      news.push(event);
      timer ??= setTimeout(() => {
        const events = news;
        news = [];
        timer = undefined;
        const predicate = ({ queryKey }: { queryKey: QueryKey }) => events.some((each) => makesStale(each, queryKey));
        void queries.invalidateQueries({ predicate });
      }, gatherMs);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [queries]);
}

/** What is read of the whole account, and has events. */
const ofAccount: readonly unknown[] = ["billing", "keys", "recent turns", "refused"];
const isOfAccount = (first: unknown) => ofAccount.includes(first);

/** Whether an event has changed what a query has read. */
function makesStale(event: AccountEvent, [first, agent, what]: QueryKey): boolean {
  const isOfAgents = first === "agents" && agent === undefined;
  switch (event.type) {
    case "agent.created":
    case "agent.changed":
    case "agent.deleted":
      return isOfAgents || (first === "agents" && agent === event.agent && what === undefined);
    case "turn.started":
    case "turn.ended":
      return (
        isOfAgents || first === "recent turns" || (first === "agents" && agent === event.agent && what === undefined)
      );
    case "host.refused":
      return first === "refused" || (first === "agents" && agent === event.agent && what === "connections");
    case "credits.changed":
      return first === "billing";
    case "key.created":
    case "key.revoked":
      return first === "keys";
    default:
      // Some may have been missed. Turns look for themselves; files have no events.
      return isOfAccount(first) || (first === "agents" && what !== "turns" && what !== "files");
  }
}
