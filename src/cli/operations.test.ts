import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedApi } from "../../test/support/scripted-api.ts";

// Every operation of the service can be reached from the command line. The service refuses each, which is enough: other
// tests cover the handling of responses.

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
afterAll(() => api[Symbol.dispose]());

const id = "0189f7e2-0000-7000-8000-000000000000";

/** Only for monitoring, and for programs that look for the identity provider. */
const withoutCommand = [
  // Opens a terminal; its ticket comes first, and the scripted service refuses it.
  "GET /agents/{name}/terminal",
  // Opened by port-forward, in the same way.
  "GET /agents/{name}/ports/{port}/connection",
  "GET /agents/{name}/ssh/connection",
  // The backup command uses these after it has made a backup, which the scripted service refuses.
  "GET /admin/backups/{id}",
  "DELETE /admin/backups/{id}",
  // Its list has the same.
  "GET /agents/{name}/conversations/{conversation}",
  // For browsers.
  "POST /me/push-subscriptions",
  // For senders of deliveries.
  "POST /hooks/{hookId}",
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
  "GET /.well-known/oauth-protected-resource",
  // For authorization servers.
  "GET /mcp/client.json",
];

/** The command of each operation, written by hand. */
const commands: Record<string, string> = {
  "GET /agents": "agents list",
  "POST /agents": "agents create ada",
  "GET /agents/{name}": "agents get ada",
  "PATCH /agents/{name}": "agents update ada --model demo/demo",
  "DELETE /agents/{name}": "agents delete ada --yes",
  "POST /agents/{name}/restart": "agents restart ada",
  "POST /agents/{name}/upgrade": "agents upgrade ada",
  "POST /agents/{name}/snapshots": "snapshots create ada",
  "GET /agents/{name}/snapshots": "snapshots list ada",
  "DELETE /agents/{name}/snapshots/{snapshot}": "snapshots remove ada then --yes",
  "GET /agents/{name}/export": "agents export ada",
  "POST /imports": "agents import -",
  "POST /agents/{name}/rollback": "agents rollback ada then --yes",
  "POST /agents/{name}/suspend": "agents suspend ada",
  "POST /agents/{name}/resume": "agents resume ada",
  "GET /agents/{name}/logs": "agents logs ada",
  "POST /agents/{name}/conversation/reset": "agents reset ada --yes",
  "GET /agents/{name}/conversations": "conversations list ada",
  "POST /agents/{name}/conversations": "conversations new ada",
  "PATCH /agents/{name}/conversations/{conversation}": "conversations use ada 1",
  "DELETE /agents/{name}/conversations/{conversation}": "conversations delete ada 1 --yes",
  "GET /agents/{name}/install-status": "agents install-status ada",
  "POST /agents/{name}/chat": "chat ada hello",
  "GET /agents/{name}/turns": "turns list ada",
  "POST /agents/{name}/uploads": `uploads create ada ${import.meta.filename}`,
  "GET /agents/{name}/uploads": "uploads list ada",
  "GET /agents/{name}/uploads/{uploadId}": `uploads show ada ${id}`,
  "GET /agents/{name}/uploads/{uploadId}/content": `uploads read ada ${id}`,
  "DELETE /agents/{name}/uploads/{uploadId}": `uploads remove ada ${id} --yes`,
  "GET /turns": "turns recent",
  "GET /search": "search hello",
  "GET /agents/{name}/turns/{turnId}": `turns show ada ${id}`,
  "GET /agents/{name}/turns/{turnId}/events": `turns events ada ${id}`,
  "GET /agents/{name}/turns/{turnId}/changes": `turns changes ada ${id}`,
  "POST /agents/{name}/turns/{turnId}/changes/revert": `turns revert ada ${id} a.txt`,
  "GET /agents/{name}/changes": "turns changes ada --since good",
  "POST /agents/{name}/turns/{turnId}/restore": `turns restore ada ${id} --yes`,
  "POST /agents/{name}/turns/{turnId}/cancel": `turns cancel ada ${id}`,
  "PATCH /agents/{name}/turns/{turnId}": `queue change ada ${id} --position 1`,
  "GET /approvals": "approvals list",
  "GET /agents/{name}/turns/{turnId}/approvals": `approvals history ada ${id}`,
  "POST /agents/{name}/turns/{turnId}/approvals/{approvalId}": `approvals allow ada ${id} --turn ${id}`,
  "GET /automations": "automations list",
  "POST /automations": "automations create check --agent ada --message hello --at 1h",
  "GET /automations/{name}": "automations get check",
  "PATCH /automations/{name}": "automations update check --overlap queue",
  "DELETE /automations/{name}": "automations delete check --yes",
  "POST /automations/{name}/run": "automations run check",
  "POST /automations/{name}/pause": "automations pause check",
  "POST /automations/{name}/resume": "automations resume check",
  "GET /automations/{name}/runs": "automations runs check",
  "GET /schedule-times": "automations times hourly --time-zone UTC",
  "GET /providers": "providers list",
  "POST /providers": "providers add acme --kind openai-compatible --base-url https://example.com/v1 --no-key",
  "PATCH /providers/{name}": "providers update acme --model llama",
  "DELETE /providers/{name}": "providers delete acme --yes",
  "POST /providers/{name}/login": "providers login acme --no-wait",
  "POST /providers/{name}/test": "providers test acme",
  "GET /webhooks": "webhooks list",
  "POST /webhooks": "webhooks create https://example.com/hook",
  "GET /webhooks/{id}": `webhooks get ${id}`,
  "PATCH /webhooks/{id}": `webhooks update ${id} --disable`,
  "DELETE /webhooks/{id}": `webhooks delete ${id} --yes`,
  "POST /webhooks/{id}/rotate": `webhooks rotate ${id} --yes`,
  "POST /webhooks/{id}/test": `webhooks test ${id}`,
  "GET /webhooks/{id}/deliveries": `webhooks deliveries ${id}`,
  "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver": `webhooks redeliver ${id} ${id}`,
  "POST /automations/{name}/rotate-secret": "automations rotate-secret check",
  "GET /automations/{name}/deliveries": "automations deliveries check",
  "POST /automations/{name}/deliveries/{deliveryId}/send-again": `automations send-again check ${id}`,
  "GET /agents/{name}/queue": "queue list ada",
  "POST /agents/{name}/queue": "queue resume ada",
  "POST /agents/{name}/commands": "exec ada ls",
  "GET /agents/{name}/commands": "commands list ada",
  "GET /agents/{name}/commands/{commandId}": `commands show ada ${id}`,
  "GET /agents/{name}/commands/{commandId}/events": `commands logs ada ${id}`,
  "POST /agents/{name}/commands/{commandId}/stdin": `commands input ada ${id}`,
  "POST /agents/{name}/commands/{commandId}/signal": `commands signal ada ${id}`,
  "POST /agents/{name}/tickets": "terminal ada",
  "GET /agents/{name}/files/{path}": "files ls ada notes",
  "PUT /agents/{name}/files/{path}": "cp - ada:notes.txt",
  "POST /agents/{name}/files/{path}": "files mkdir ada notes",
  "DELETE /agents/{name}/files/{path}": "files rm ada notes.txt",
  "POST /agents/{name}/ssh": "ssh ada",
  "GET /agents/{name}/ports": "ports ada",
  "POST /agents/{name}/ports/{port}/share": "share ada 3000",
  "GET /agents/{name}/shares": "shares list ada",
  "DELETE /agents/{name}/shares/{shareId}": `shares remove ada ${id}`,
  "GET /models": "models",
  "GET /runtimes": "runtimes",
  "GET /agents/{name}/network": "agents network get ada",
  "PUT /agents/{name}/network": "agents network set ada --allow-all --deny-nothing",
  "GET /agents/{name}/network/log": "agents network log ada",
  "GET /network/log": "connections",
  "GET /agents/{name}/secrets": "agents secrets list ada",
  "PUT /agents/{name}/secrets/{secret}": "agents secrets set ada TOKEN --host example.com",
  "DELETE /agents/{name}/secrets/{secret}": "agents secrets remove ada TOKEN",
  "GET /secrets": "secrets list",
  "GET /secrets/{secret}": "secrets get TOKEN",
  "PUT /secrets/{secret}": "secrets set TOKEN --host example.com",
  "DELETE /secrets/{secret}": "secrets delete TOKEN --yes",
  "POST /secrets/{secret}/connect": "mcp connect TOKEN https://mcp.example.com/mcp",
  "POST /secrets/{secret}/confirm": "mcp confirm TOKEN ABCD-EFGH",
  "GET /skills": "skills list",
  "GET /skills/{skill}": "skills show pdf-forms",
  "PUT /skills/{skill}": "skills update pdf-forms --agent ada",
  "PUT /skills/{skill}/archive": `skills add ${import.meta.filename} --name pdf-forms`,
  "DELETE /skills/{skill}": "skills remove pdf-forms --yes",
  "GET /account": "whoami",
  "GET /me": "whoami",
  "GET /workspaces": "workspaces list",
  "POST /workspaces": "workspaces create ops",
  "PATCH /workspaces/{name}": "workspaces rename ops team",
  "DELETE /workspaces/{name}": "workspaces delete ops --yes",
  "GET /deleted-workspaces": "workspaces deleted",
  "POST /deleted-workspaces/{id}/restore": `workspaces restore ${id}`,
  "GET /workspaces/{name}/members": "workspaces members ops",
  "PATCH /workspaces/{name}/members/{id}": `workspaces role ops ${id} viewer`,
  "DELETE /workspaces/{name}/members/{id}": `workspaces remove ops ${id} --yes`,
  "GET /workspaces/{name}/invitations": "workspaces invitations ops",
  "POST /workspaces/{name}/invitations": "workspaces invite ops",
  "DELETE /workspaces/{name}/invitations/{id}": `workspaces revoke ops ${id}`,
  "POST /invitations/{token}/accept": "workspaces join abc",
  "GET /me/profile": "notifications show",
  "PATCH /me/profile": "notifications set --notify all",
  "POST /me/profile/verify-email": "notifications verify abc",
  "POST /me/profile/test": "notifications test",
  "GET /me/profile/agents": "notifications agents",
  "PUT /me/profile/agents/{name}": "notifications agent ada all",
  "DELETE /me/profile/agents/{name}": "notifications agent ada default",
  "GET /inbox": "inbox",
  "GET /inbox/unread": "inbox unread",
  "POST /inbox/read": "inbox read --agent ada",
  "POST /inbox/dismiss": "inbox dismiss --agent ada",
  "DELETE /inbox/{id}": `inbox dismiss ${id}`,
  "GET /keys": "keys list",
  "POST /keys": "keys create",
  "DELETE /keys/{id}": `keys revoke ${id} --yes`,
  "GET /account/programs": "programs list",
  "DELETE /account/programs/{id}": `programs end ${id} --yes`,
  "GET /audit": "audit",
  "GET /events": "events",
  "GET /billing": "billing show",
  "PATCH /billing": "billing limit 10",
  "GET /billing/entries": "billing entries",
  "GET /billing/usage": "billing usage",
  "POST /billing/top-ups": "billing top-up 10",
  "GET /admin/users": "admin users list",
  "POST /admin/users": "admin users add bea",
  "POST /admin/users/{name}/reset": "admin users reset bea",
  "POST /admin/users/{name}/disable": "admin users disable bea",
  "POST /admin/users/{name}/enable": "admin users enable bea",
  "POST /admin/signing-keys": "admin signing-keys replace",
  "GET /me/push-subscriptions": "notifications browsers",
  "DELETE /me/push-subscriptions/{id}": `notifications remove-browser ${id}`,
  "GET /admin/capacity": "admin capacity",
  "GET /admin/reachability": "admin reachability",
  "POST /admin/backups": "admin backup -",
  "GET /admin/orphans": "admin orphans list",
  "POST /admin/orphans/{id}/give-back": `admin orphans give-back ${id} ada`,
  "DELETE /admin/orphans/{id}": `admin orphans remove ${id} --yes`,
  "GET /admin/credits": "admin credits list",
  "POST /admin/credits/grants": "admin credits grant bea 10",
};

/** Protocols by which other programs use agents. */
const isOfOthers = / \/(v1\/|mcp$|agents\/\{name\}\/(a2a|agui)|\.well-known\/oauth-protected-resource\/mcp)/;

test("every operation of the service has its command", async () => {
  const document = JSON.parse(await readFile(new URL("../../docs/openapi.json", import.meta.url), "utf8")) as {
    paths: Record<string, object>;
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const own = operations.filter((operation) => !isOfOthers.test(operation));
  expect([...Object.keys(commands), ...withoutCommand].toSorted()).toEqual(own.toSorted());
});

test.each(Object.entries(commands))("%s: berth %s", async (operation, command) => {
  api.clear();
  const { stderr } = await api.berth(command.split(" "), { input: "value" });
  const asked = new RegExp(`^${operation.replaceAll(/\{\w+\}/g, "[^/?]+")}(\\?|$)`);
  expect([stderr, api.seen.map(({ method, path }) => `${method} ${path}`)]).toEqual([
    expect.stringContaining("no such path"),
    expect.arrayContaining([expect.stringMatching(asked)]),
  ]);
});
