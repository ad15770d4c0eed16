import { QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError } from "@berth/client";
import { berth, firstOf } from "./client.ts";

// What views read, each under one name. What changes by itself is kept true by the account's events; see live.ts.

/** More agents than anybody looks through. */
const mostAgents = 1_000;
const mostKeys = 500;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      // The client tries again by itself what is worth it.
      retry: false,
      refetchOnWindowFocus: true,
      throwOnError: (error, query) => query.state.data === undefined && !(error instanceof ApiError),
    },
  },
});

export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: () => berth.account(),
  staleTime: Number.POSITIVE_INFINITY,
});

export const agentsQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: async () => (await berth.agents.list().take(mostAgents)).data,
});

export function agentQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name], queryFn: () => berth.agent(name).get() });
}

export const runtimesQuery = queryOptions({
  queryKey: ["runtimes"],
  queryFn: () => berth.runtimes(),
  staleTime: 300_000,
});

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: () => berth.models().all(),
  staleTime: 300_000,
});

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: async () => (await berth.keys.list().take(mostKeys)).data,
});

export const billingQuery = queryOptions({ queryKey: ["billing"], queryFn: () => berth.billing.get() });

export function networkQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name, "network"], queryFn: () => berth.agent(name).network.get() });
}

export function connectionsQuery(name: string) {
  return queryOptions({
    queryKey: ["agents", name, "connections"],
    queryFn: () => firstOf(berth.agent(name).network.log(), 200),
  });
}

export function secretsQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name, "secrets"], queryFn: () => berth.agent(name).secrets.list() });
}
