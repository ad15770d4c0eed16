import type { ReleaseRequest } from "../../test/support/release-answers.ts";
import type { ReleaseFacts } from "./data.ts";

/** Routes of the release whose answers are no data of a database, each with the reason. */
export const unrecorded: Record<string, string> = {
  "GET /": "the dashboard's page",
  "GET /-/{page}": "the dashboard's page",
  "GET /assets/{file}": "the dashboard's files",
  "GET /dashboard/sign-in": "a redirect with random values",
  "GET /metrics": "numbers of the process",
  "GET /openapi.json": "test/api/openapi.test.ts compares it with the release's",
  "GET /admin/capacity": "the host's memory and machines",
  "GET /agents/{name}/terminal": "a WebSocket",
  "GET /agents/{name}/ssh/connection": "a WebSocket",
  "GET /agents/{name}/ports/{port}/connection": "a WebSocket",
  "GET /v1/responses": "a WebSocket",
  "GET /agents/{name}/ports": "the ports that listen on the host of the test",
};

/** The requests in order: those that wake a machine are last. Keys are roles of the release's credentials. */
export function releaseRequests(facts: ReleaseFacts): ReleaseRequest[] {
  const get = (as: string, ...paths: string[]) => paths.map((path) => ({ as, method: "GET", path }));
  return [
    ...get("nobody", "/healthz", "/readyz", "/account", "/agents"),
    ...get("nobody", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"),
    ...get("nobody", "/.well-known/oauth-authorization-server/oidc", "/.well-known/openid-configuration/oidc"),
    ...ownRequests(get, facts),
    { as: "operator", method: "GET", path: `/events?after=${facts.firstEvent}`, lastId: facts.lastEvent },
    ...get("operator", "/admin/users", `/admin/backups/${facts.unknown}`, "/admin/credits"),
    ...["bea", "bea-session-token", "ada-only"].flatMap((as) => get(as, "/account", "/agents", "/keys", "/turns")),
    ...["bea", "bea-session-token"].flatMap((as) => get(as, "/billing", "/agents/hal", "/agents/ada", "/admin/users")),
    ...get("ada-only", "/agents/ada", "/agents/bob", `/agents/ada/turns/${facts.agentTurn}`),
    ...get("revoked", "/account"),
    ...get("expired", "/account"),
    ...get("disabled", "/account"),
    { as: "bea-browser", method: "POST", path: "/dashboard/session" },
    { as: "operator", ...facts.repeated },
    { as: "operator", method: "POST", path: "/keys", body: { kind: "none" } },
    { as: "ada-only", method: "POST", path: "/keys", body: {} },
    { as: "bea", method: "DELETE", path: `/keys/${facts.unknown}` },
    { as: "bea", method: "POST", path: "/agents/ada/suspend" },
    ...get("operator", ...wakingPaths),
  ];
}

/** The reads of the operator's account, which leave the machines asleep. */
function ownRequests(
  get: (as: string, ...paths: string[]) => ReleaseRequest[],
  { turn, response, day }: ReleaseFacts,
): ReleaseRequest[] {
  return get(
    "operator",
    "/account",
    "/account/programs",
    "/agents",
    "/agents?limit=1",
    "/agents/ada",
    "/agents/ada/install-status",
    "/agents/bob",
    "/agents/nobody",
    "/agents/ada/turns",
    "/agents/bob/turns",
    `/agents/ada/turns/${turn}`,
    `/agents/ada/turns/${turn}/events?include=status,reasoning,tools,usage`,
    "/turns",
    "/agents/ada/snapshots",
    "/agents/ada/network",
    "/agents/ada/network/log",
    "/network/log",
    "/agents/ada/secrets",
    "/agents/ada/shares",
    "/agents/ada/a2a/.well-known/agent-card.json",
    "/keys",
    "/audit",
    "/audit?outcome=refused",
    "/billing",
    "/billing/entries",
    `/billing/usage?since=${day}T00:00:00Z&until=${day}T23:59:59Z`,
    "/models",
    "/runtimes",
    "/v1/models",
    "/v1/models/ada",
    `/v1/responses/${response}`,
    `/v1/responses/${response}/input_items`,
  );
}

const wakingPaths = [
  "/agents/ada/files/work?limit=10",
  "/agents/ada/files/work/notes.txt",
  "/agents/ada/commands",
  "/agents/ada/commands/018f0000-0000-7000-8000-000000000000",
  "/agents/ada/commands/018f0000-0000-7000-8000-000000000000/events",
  "/agents/ada/logs",
  "/agents/ada/export",
];
