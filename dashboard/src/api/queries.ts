import { type Agent, ApiError } from "@berth/client";
import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { berth } from "./client.ts";

// The data that views read, each under one name. Data that changes on the server is read again when use-live.ts reports
// it.

/** More agents than anybody looks through. */
const mostAgents = 1_000;
const mostAutomations = 500;
const mostWebhooks = 100;
const mostKeys = 500;
const mostConnections = 200;
/** The queue for slots is in the memory of the server, so no event tells of it. */
const queueEveryMs = 2_000;
/** Turns asked for at a time. */
const turnPage = 30;
const listPage = 50;
const runPage = 20;
const recentTurns = 10;
const mostFound = 8;
const mostConversations = 200;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      // The client retries automatically where useful. A refused token is replaced.
      retry: (count, error) => count === 0 && error instanceof ApiError && error.statusCode === 401,
      retryDelay: 0,
      // The client finds out itself; a page of this machine works without a network, too.
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

export const accountQuery = queryOptions({
  queryKey: ["account"],
  queryFn: () => berth.account(),
  staleTime: Number.POSITIVE_INFINITY,
});

/** The person, their workspaces, and their role in this one. */
export const meQuery = queryOptions({ queryKey: ["me"], queryFn: () => berth.me() });

/** How the person is notified. */
export const profileQuery = queryOptions({ queryKey: ["profile"], queryFn: () => berth.profile.get() });

/** The person's choices for single agents of this workspace. */
export const agentNotifyQuery = queryOptions({
  queryKey: ["profile", "agents"],
  queryFn: async () => (await berth.profile.agents().take(mostAgents)).data,
});

/** The browsers that show the person's notifications. */
export const pushQuery = queryOptions({ queryKey: ["push"], queryFn: () => berth.pushSubscriptions.list() });

/** By the workspace's id. */
export function membersQuery(workspace: string) {
  return queryOptions({
    queryKey: ["members", workspace],
    queryFn: () => berth.workspaces.members(workspace).all(),
  });
}

/** Whether the workspace has more than one member, by its id. */
export function hasOthersQuery(workspace: string) {
  return queryOptions({
    queryKey: ["members", workspace, "others"],
    queryFn: async () => (await berth.workspaces.members(workspace).take(2)).data.length > 1,
  });
}

/** Those that the person can restore. */
export const deletedWorkspacesQuery = queryOptions({
  queryKey: ["deleted workspaces"],
  queryFn: () => berth.workspaces.deleted(),
});

/** By the workspace's id. */
export function invitationsQuery(workspace: string) {
  return queryOptions({
    queryKey: ["invitations", workspace],
    queryFn: () => berth.workspaces.invitations(workspace),
  });
}

export const agentsQuery = queryOptions({
  queryKey: ["agents"],
  queryFn: async () => (await berth.agents.list().take(mostAgents)).data,
  refetchInterval: ({ state: { data = [] } }) => (data.some(isWaiting) ? queueEveryMs : false),
});

export function agentQuery(name: string) {
  return queryOptions({
    queryKey: ["agents", name],
    queryFn: () => berth.agent(name).get(),
    refetchInterval: ({ state: { data } }) => (data && isWaiting(data) ? queueEveryMs : false),
  });
}

/** The approvals that wait for an answer, the oldest first. */
export const approvalsQuery = queryOptions({
  queryKey: ["approvals"],
  queryFn: async () => (await berth.approvals.list().take(listPage)).data,
});

function isWaiting({ queuePosition }: Agent): boolean {
  return queuePosition !== null;
}

export const runtimesQuery = queryOptions({
  queryKey: ["runtimes"],
  queryFn: () => berth.runtimes(),
  staleTime: 300_000,
});

export const modelsKey = ["models"];

export const modelsQuery = queryOptions({
  queryKey: modelsKey,
  queryFn: () => berth.models().all(),
  staleTime: 300_000,
});

/** The key of all queries of automations. */
export const automationsKey = ["automations"];

export const automationsQuery = queryOptions({
  queryKey: automationsKey,
  queryFn: async () => (await berth.automations.list().take(mostAutomations)).data,
});

export function automationQuery(name: string) {
  return queryOptions({ queryKey: [...automationsKey, name], queryFn: () => berth.automations.get(name) });
}

/** An automation's runs, the newest first. */
export function runsQuery(name: string) {
  return infiniteQueryOptions({
    queryKey: [...automationsKey, name, "runs"],
    queryFn: ({ pageParam }) =>
      berth.connection.call("listAutomationRuns", {
        path: { name },
        query: { limit: runPage, ...(pageParam !== null && { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

/** The deliveries to an automation's hook, the newest first. */
export function hookDeliveriesQuery(name: string) {
  return infiniteQueryOptions({
    queryKey: [...automationsKey, name, "deliveries"],
    queryFn: ({ pageParam }) =>
      berth.connection.call("listHookDeliveries", {
        path: { name },
        query: { limit: runPage, ...(pageParam !== null && { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export function scheduleTimesQuery(cron: string, timeZone: string) {
  return queryOptions({
    queryKey: ["schedule times", cron, timeZone],
    queryFn: () => berth.automations.times({ cron, timeZone }),
  });
}

export const providersKey = ["providers"];

export const providersQuery = queryOptions({ queryKey: providersKey, queryFn: () => berth.providers.list() });

/** The key of all queries of skills. */
export const skillsKey = ["skills"];

export const skillsQuery = queryOptions({ queryKey: skillsKey, queryFn: () => berth.skills.list() });

export const skillQuery = (name: string) =>
  queryOptions({ queryKey: [...skillsKey, name], queryFn: () => berth.skills.get(name) });

export const workspaceSecretsQuery = queryOptions({ queryKey: ["secrets"], queryFn: () => berth.secrets.list() });

/** The key of all queries of webhooks. */
export const webhooksKey = ["webhooks"];

export const webhooksQuery = queryOptions({
  queryKey: webhooksKey,
  queryFn: async () => (await berth.webhooks.list().take(mostWebhooks)).data,
});

export function webhookQuery(id: string) {
  return queryOptions({ queryKey: [...webhooksKey, id], queryFn: () => berth.webhooks.get(id) });
}

/** A webhook's deliveries, the newest first. */
export function webhookDeliveriesQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: [...webhooksKey, id, "deliveries"],
    queryFn: ({ pageParam }) =>
      berth.connection.call("listWebhookDeliveries", {
        path: { id },
        query: { limit: runPage, ...(pageParam !== null && { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: async () => (await berth.keys.list().take(mostKeys)).data,
});

export const programsQuery = queryOptions({ queryKey: ["programs"], queryFn: () => berth.programs.list() });

export const billingQuery = queryOptions({ queryKey: ["billing"], queryFn: () => berth.billing.get() });

/** An agent's conversations, the newest activity first. */
export function conversationsQuery(name: string) {
  return queryOptions({
    queryKey: ["agents", name, "conversations"],
    queryFn: async () => (await berth.agent(name).conversations.list().take(mostConversations)).data,
  });
}

/** Those with a turn that began after a time. */
export function activeConversationsQuery(name: string, since: string) {
  return queryOptions({
    queryKey: ["agents", name, "conversations", since],
    queryFn: async () => (await berth.agent(name).conversations.list({ since }).take(mostConversations)).data,
  });
}

/** The key of all queries of an agent's turns. */
export const turnsKey = (name: string) => ["agents", name, "turns"];

/**
 * Of a conversation, or of all (null), the newest first. They are kept true by whoever shows them, so that no page is
 * fetched twice.
 */
export function turnsQuery(name: string, conversation: number | null) {
  return infiniteQueryOptions({
    queryKey: [...turnsKey(name), conversation],
    queryFn: ({ pageParam }) => turnsFrom(name, conversation, { cursor: pageParam, limit: turnPage, events: true }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The messages that wait for an agent. */
export function queueQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name, "queue"], queryFn: () => berth.agent(name).queue.get() });
}

/** One turn, with what it took. */
export function turnQuery(name: string, turnId: string) {
  return queryOptions({
    queryKey: ["agents", name, "turn", turnId],
    queryFn: () => berth.agent(name).turn(turnId),
  });
}

interface TurnsPage {
  cursor: string | null;
  limit: number;
  /** Whether turns that have ended come with their events. */
  events: boolean;
}

/** A page of an agent's turns, the newest first. */
export function turnsFrom(name: string, conversation: number | null, { cursor, limit, events }: TurnsPage) {
  const query = {
    limit,
    ...(cursor !== null && { cursor }),
    ...(conversation !== null && { conversation }),
    ...(events && { events: "true" as const }),
  };
  return berth.connection.call("listTurns", { path: { name }, query });
}

/** The turns of all agents, newest first. */
export const recentTurnsQuery = infiniteQueryOptions({
  queryKey: ["recent turns", "all"],
  queryFn: ({ pageParam }) =>
    berth.connection.call("listAccountTurns", {
      query: { limit: recentTurns, ...(pageParam === null ? {} : { cursor: pageParam }) },
    }),
  initialPageParam: null as string | null,
  getNextPageParam: ({ nextCursor }) => nextCursor,
});

/** Later than any turn has ended: those that have not are left. */
const farFuture = "9999-12-31T00:00:00.000Z";
const mostRunning = 100;

/** The turns of all agents that run now, or wait in the middle. */
export const runningQuery = queryOptions({
  queryKey: ["recent turns", "running"],
  queryFn: async () => {
    const query = { since: farFuture, limit: mostRunning };
    const { data } = await berth.connection.call("listAccountTurns", { query });
    return data.filter(({ status }) => status === "running" || status === "waiting");
  },
});

/** The newest messages and replies that match a search. */
export function foundQuery(q: string) {
  return queryOptions({
    queryKey: ["found", q],
    queryFn: async ({ signal }) => (await berth.search({ q }, { signal }).take(mostFound)).data,
    staleTime: 0,
  });
}

export function networkQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name, "network"], queryFn: () => berth.agent(name).network.get() });
}

export function connectionsQuery(name: string, verdict: "allowed" | "refused" | null) {
  return queryOptions({
    queryKey: ["agents", name, "connections", verdict],
    queryFn: async () =>
      (
        await berth
          .agent(name)
          .network.log(verdict === null ? {} : { verdict })
          .take(mostConnections)
      ).data,
  });
}

export function secretsQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name, "secrets"], queryFn: () => berth.agent(name).secrets.list() });
}

export function snapshotsQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name, "snapshots"], queryFn: () => berth.agent(name).snapshots.list() });
}

export function portsQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name, "ports"], queryFn: () => berth.agent(name).ports.list() });
}

export function sharesQuery(name: string) {
  return queryOptions({ queryKey: ["agents", name, "shares"], queryFn: () => berth.agent(name).ports.shares() });
}

export function folderQuery(name: string, path: string) {
  return queryOptions({
    queryKey: ["agents", name, "files", path],
    queryFn: () => berth.agent(name).files.list(path).take(5_000),
  });
}

export type UsageGroup = "day" | "agent" | "model" | "key";

export function usageQuery(by: UsageGroup, since: string) {
  return queryOptions({ queryKey: ["billing", "usage", by, since], queryFn: () => berth.billing.usage({ by, since }) });
}

export type EntryFilter = NonNullable<Parameters<typeof berth.billing.entries>[0]>;

export function entriesQuery(filter: EntryFilter) {
  return infiniteQueryOptions({
    queryKey: ["billing", "entries", filter],
    queryFn: ({ pageParam }) =>
      berth.connection.call("listEntries", {
        query: { ...filter, limit: listPage, ...(pageParam === null ? {} : { cursor: pageParam }) },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export type AuditFilter = Omit<NonNullable<Parameters<typeof berth.audit>[0]>, "limit" | "cursor">;

/** The most pages without an entry that one search reads. "Older" continues after them. */
const emptyPages = 50;

export function auditQuery(filter: AuditFilter) {
  return infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: async ({ pageParam, signal }) => {
      for (let cursor = pageParam, left = emptyPages; ; left--) {
        const query = { ...filter, limit: listPage, ...(cursor === null ? {} : { cursor }) };
        const page = await berth.connection.call("listAuditEntries", { query, signal });
        if (page.data.length > 0 || page.nextCursor === null || left === 1) return page;
        cursor = page.nextCursor;
      }
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export const capacityQuery = queryOptions({ queryKey: ["capacity"], queryFn: () => berth.admin.capacity() });

export const reachabilityQuery = queryOptions({
  queryKey: ["reachability"],
  queryFn: () => berth.admin.reachability(),
});

export const usersQuery = queryOptions({ queryKey: ["users"], queryFn: () => berth.admin.users().all() });

export const allCreditsQuery = queryOptions({ queryKey: ["all credits"], queryFn: () => berth.admin.credits().all() });

export const orphansQuery = queryOptions({ queryKey: ["orphans"], queryFn: () => berth.admin.orphans() });

export const readinessQuery = queryOptions({
  queryKey: ["readiness"],
  // A failed readiness check is a result, too.
  queryFn: async () => {
    const response = await berth.connection.send("GET", "/readyz");
    return (await response.json()) as Awaited<ReturnType<typeof berth.connection.call<"getReadiness">>>;
  },
});
