import { createECDH, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKey } from "../../src/accounts/key-format.ts";
import { ErrorBody } from "../../src/contract/agents.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { type Answer, TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { signIn, useLink } from "../support/sign-in.ts";
import { described, skillText, tarOf } from "../support/skill-archives.ts";
import { StripeServer } from "../support/stripe-server.ts";
import { requireDescribed } from "../support/wire.ts";

// Every operation of the interface with every kind of credential. The expectations are written here by hand, and not taken
// from the table of routes.

let provider: StripeServer;
let service: ScriptedService;
let owner: TestClient;
let stranger: TestClient;
/** Tokens of those who have signed in: the first user, whose account is the owner's, and another. */
let signedIn: TestClient;
let signedInStranger: TestClient;

const password = "correct horse battery";

beforeAll(async () => {
  provider = await StripeServer.start();
  service = await ScriptedService.start({ stripe: { secretKey: "sk", webhookSecret: "whsec", apiUrl: provider.url } });
  owner = service.client;
  stranger = await newAccount(service);
  await useLink(service.server.firstSignIn!, password, "olga");
  await useLink((await owner.call("POST", "/admin/users", { name: "simon" })).body.link, password);
  signedIn = await tokenOf("olga");
  signedInStranger = await tokenOf("simon");
  await owner.createAgent("another");
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function tokenOf(name: string): Promise<TestClient> {
  return new TestClient(owner.url, (await signIn(owner.url, name, password)).access_token);
}

/** The objects of the calls: an agent, a key and a user of the owner's. */
interface Target {
  name: string;
  keyId: string;
  turnId: string;
  /** The same turn, as a response of OpenAI's API. */
  responseId: string;
  /** Its conversation in OpenAI's API. */
  conversationId: string;
  user: string;
  /** The owner's workspace. */
  workspace: string;
}

/** A status for each credential. */
interface Expected {
  /** A full key of the account, and its token. */
  own: number;
  /** A full key of another account, and its token. */
  stranger: number;
  /** External agent keys: of this agent and its turn, of another agent, and of another account's. */
  agentKeys: [ofThis: number, ofAnother: number, foreign: number];
  /** Full keys, if they get another status than the token: of the account, and of another. */
  keys?: [own: number, stranger: number];
}

/** An operation that is the account's. `stranger`: 404 where it is about an agent or a key. */
const account = (own: number, stranger: number): Expected => ({ own, stranger, agentKeys: [403, 403, 403] });
/** An operation on an agent that external agent keys may do, too. */
const chatting = (own: number): Expected => ({ own, stranger: 404, agentKeys: [own, 403, 404] });
/** A conversation that is not the caller's does not exist for an external agent key. */
const ofConversation = (own: number): Expected => ({ own, stranger: 404, agentKeys: [own, 404, 404] });
const operator = (own: number): Expected => ({ own, stranger: 403, agentKeys: [403, 403, 403] });

/** An operation of a workspace that the caller has to be in. */
const workspace = (own: number): Expected => ({ own, stranger: 404, agentKeys: [403, 403, 404] });
/** An operation of people who have signed in. */
const people = (status: number): Expected => ({ ...account(status, status), keys: [403, 403] });

/** In the order in which they are called on one target: what ends something of it comes last. */
const expected: Readonly<Record<string, Expected>> = {
  "GET /account": account(200, 200),
  "GET /account/programs": account(200, 200),
  // None is signed in.
  "DELETE /account/programs/{id}": account(404, 404),
  "GET /audit": account(200, 200),
  "GET /me": account(200, 200),
  "GET /me/profile": people(200),
  "PATCH /me/profile": people(200),
  "POST /me/profile/verify-email": people(410),
  "POST /me/profile/test": people(200),
  "GET /me/profile/agents": people(200),
  "PUT /me/profile/agents/{name}": { ...people(200), stranger: 404 },
  "DELETE /me/profile/agents/{name}": { ...people(204), stranger: 404 },
  "GET /workspaces": account(200, 200),
  "POST /workspaces": people(201),
  "PATCH /workspaces/{name}": workspace(200),
  "GET /workspaces/{name}/members": workspace(200),
  // There is no such member or invitation.
  "PATCH /workspaces/{name}/members/{id}": workspace(404),
  "DELETE /workspaces/{name}/members/{id}": workspace(404),
  "POST /workspaces/{name}/invitations": workspace(201),
  "GET /workspaces/{name}/invitations": workspace(200),
  "DELETE /workspaces/{name}/invitations/{id}": workspace(404),
  "POST /invitations/{token}/accept": people(404),
  "GET /me/push-subscriptions": people(200),
  "POST /me/push-subscriptions": people(201),
  "DELETE /me/push-subscriptions/{id}": people(404),
  "GET /inbox": people(200),
  "GET /inbox/unread": people(200),
  "POST /inbox/read": people(200),
  "POST /inbox/dismiss": people(200),
  "DELETE /inbox/{id}": people(404),
  "GET /deleted-workspaces": people(200),
  "POST /deleted-workspaces/{id}/restore": people(404),
  // It is personal.
  "DELETE /workspaces/{name}": workspace(409),
  "GET /events": account(200, 200),
  "GET /turns": account(200, 200),
  "GET /search": { own: 200, stranger: 200, agentKeys: [200, 200, 200] },
  "GET /network/log": account(200, 200),
  "GET /models": account(200, 200),
  "GET /runtimes": account(200, 200),
  "GET /billing": account(200, 200),
  "PATCH /billing": account(200, 200),
  "GET /billing/entries": account(200, 200),
  "GET /billing/usage": account(200, 200),
  "POST /billing/top-ups": account(201, 201),
  "GET /keys": account(200, 200),
  "POST /keys": account(201, 201),
  "DELETE /keys/{id}": account(204, 404),
  "GET /agents": { own: 200, stranger: 200, agentKeys: [200, 200, 200] },
  "POST /agents": account(201, 201),
  "GET /agents/{name}": chatting(200),
  "PATCH /agents/{name}": account(200, 404),
  "GET /agents/{name}/install-status": account(200, 404),
  "GET /agents/{name}/logs": account(200, 404),
  "GET /agents/{name}/network": account(200, 404),
  "PUT /agents/{name}/network": account(200, 404),
  "GET /agents/{name}/network/log": account(200, 404),
  "PUT /agents/{name}/secrets/{secret}": account(201, 404),
  "GET /agents/{name}/secrets": account(200, 404),
  "DELETE /agents/{name}/secrets/{secret}": account(204, 404),
  "PUT /secrets/{secret}": account(201, 201),
  "GET /secrets": account(200, 200),
  "GET /secrets/{secret}": account(200, 200),
  "DELETE /secrets/{secret}": account(204, 204),
  "POST /secrets/{secret}/connect": account(400, 400),
  "POST /secrets/{secret}/confirm": account(404, 404),
  "PUT /skills/{skill}/archive": account(201, 201),
  "PUT /skills/{skill}": account(200, 200),
  "GET /skills": account(200, 200),
  "GET /skills/{skill}": account(200, 200),
  "DELETE /skills/{skill}": account(204, 204),
  "PUT /agents/{name}/files/{path}": account(201, 404),
  "GET /agents/{name}/files/{path}": account(200, 404),
  "POST /agents/{name}/files/{path}": account(200, 404),
  "DELETE /agents/{name}/files/{path}": account(204, 404),
  "POST /agents/{name}/chat": chatting(200),
  "POST /agents/{name}/uploads": chatting(201),
  "GET /agents/{name}/uploads": account(200, 404),
  // Each caller names one that does not exist.
  "GET /agents/{name}/uploads/{uploadId}": chatting(404),
  "GET /agents/{name}/uploads/{uploadId}/content": chatting(404),
  "DELETE /agents/{name}/uploads/{uploadId}": chatting(404),
  // Conversations of other keys and people do not exist for an external agent key.
  "GET /agents/{name}/conversations": chatting(200),
  "POST /agents/{name}/conversations": chatting(201),
  "GET /agents/{name}/conversations/{conversation}": { own: 200, stranger: 404, agentKeys: [404, 403, 404] },
  "PATCH /agents/{name}/conversations/{conversation}": account(200, 404),
  // It is the current one.
  "DELETE /agents/{name}/conversations/{conversation}": account(409, 404),
  "GET /agents/{name}/turns": account(200, 404),
  "GET /agents/{name}/turns/{turnId}": chatting(200),
  "GET /agents/{name}/turns/{turnId}/events": chatting(200),
  // Its turn has ended already.
  "GET /agents/{name}/turns/{turnId}/changes": account(200, 404),
  "GET /v1/conversations/{conversationId}/items/{itemId}": ofConversation(200),
  // The turn did not change the file.
  "POST /agents/{name}/turns/{turnId}/changes/revert": account(404, 404),
  "GET /agents/{name}/changes": account(404, 404),
  "POST /agents/{name}/turns/{turnId}/restore": account(200, 404),
  "POST /agents/{name}/turns/{turnId}/cancel": chatting(409),
  "PATCH /agents/{name}/turns/{turnId}": account(409, 404),
  "GET /approvals": account(200, 200),
  "GET /agents/{name}/turns/{turnId}/approvals": account(200, 404),
  // The turn has asked for nothing.
  "POST /agents/{name}/turns/{turnId}/approvals/{approvalId}": account(404, 404),
  // Its name is that of the agent.
  "POST /automations": account(201, 404),
  "GET /automations": account(200, 200),
  "GET /automations/{name}": account(200, 404),
  "PATCH /automations/{name}": account(200, 404),
  "POST /automations/{name}/run": account(201, 404),
  "POST /automations/{name}/pause": account(200, 404),
  "POST /automations/{name}/resume": account(200, 404),
  "GET /automations/{name}/runs": account(200, 404),
  "POST /automations/{name}/rotate-secret": account(200, 404),
  "GET /automations/{name}/deliveries": account(200, 404),
  "POST /automations/{name}/deliveries/{deliveryId}/send-again": account(404, 404),
  "DELETE /automations/{name}": account(204, 404),
  "GET /schedule-times": account(200, 200),
  "POST /webhooks": account(201, 201),
  "GET /webhooks": account(200, 200),
  // The agent's name is the id of no webhook.
  "GET /webhooks/{id}": account(404, 404),
  "PATCH /webhooks/{id}": account(404, 404),
  "DELETE /webhooks/{id}": account(404, 404),
  "POST /webhooks/{id}/rotate": account(404, 404),
  "POST /webhooks/{id}/test": account(404, 404),
  "GET /webhooks/{id}/deliveries": account(404, 404),
  "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver": account(404, 404),
  "GET /agents/{name}/queue": account(200, 404),
  "POST /agents/{name}/queue": account(200, 404),
  // The stranger has one of this name, too.
  "POST /providers": account(201, 201),
  "GET /providers": account(200, 200),
  "PATCH /providers/{name}": account(200, 200),
  // It is no subscription.
  "POST /providers/{name}/login": account(400, 400),
  "POST /providers/{name}/test": account(200, 200),
  "DELETE /providers/{name}": account(204, 204),
  "GET /v1/models": { own: 200, stranger: 200, agentKeys: [200, 200, 200] },
  "GET /v1/models/{model}": chatting(200),
  "POST /v1/responses": chatting(200),
  "POST /v1/responses/compact": chatting(200),
  "POST /v1/chat/completions": chatting(200),
  // Not as a WebSocket.
  "GET /v1/responses": { own: 426, stranger: 426, agentKeys: [426, 426, 426] },
  "GET /v1/responses/{responseId}": chatting(200),
  "GET /v1/responses/{responseId}/input_items": chatting(200),
  "POST /v1/responses/{responseId}/cancel": chatting(200),
  "DELETE /v1/responses/{responseId}": chatting(200),
  "GET /v1/files": { own: 200, stranger: 200, agentKeys: [200, 200, 200] },
  // Not a form, and no such file.
  "POST /v1/files": { own: 415, stranger: 415, agentKeys: [415, 415, 415] },
  "GET /v1/files/{fileId}": { own: 404, stranger: 404, agentKeys: [404, 404, 404] },
  "GET /v1/files/{fileId}/content": { own: 404, stranger: 404, agentKeys: [404, 404, 404] },
  "DELETE /v1/files/{fileId}": { own: 404, stranger: 404, agentKeys: [404, 404, 404] },
  "POST /v1/conversations": { own: 200, stranger: 200, agentKeys: [200, 200, 200] },
  "GET /v1/conversations/{conversationId}": ofConversation(200),
  "POST /v1/conversations/{conversationId}": ofConversation(200),
  "GET /v1/conversations/{conversationId}/items": ofConversation(200),
  // It has a response already.
  "POST /v1/conversations/{conversationId}/items": ofConversation(400),
  "DELETE /v1/conversations/{conversationId}/items/{itemId}": ofConversation(400),
  "DELETE /v1/conversations/{conversationId}": ofConversation(200),
  "POST /agents/{name}/commands": account(200, 404),
  "GET /agents/{name}/commands": account(200, 404),
  "GET /agents/{name}/commands/{commandId}": account(404, 404),
  "GET /agents/{name}/commands/{commandId}/events": account(404, 404),
  "POST /agents/{name}/commands/{commandId}/stdin": account(404, 404),
  "POST /agents/{name}/commands/{commandId}/signal": account(404, 404),
  "POST /agents/{name}/tickets": account(201, 404),
  // Not as a WebSocket.
  "GET /agents/{name}/terminal": account(426, 426),
  "GET /agents/{name}/ports": account(200, 404),
  "GET /agents/{name}/ports/{port}/connection": account(426, 426),
  "POST /agents/{name}/ports/{port}/share": account(201, 404),
  "GET /agents/{name}/shares": account(200, 404),
  "DELETE /agents/{name}/shares/{shareId}": account(404, 404),
  "POST /agents/{name}/ssh": account(200, 404),
  "GET /agents/{name}/ssh/connection": account(426, 426),
  // The permissions of each of its methods are tested with them (a2a.test.ts).
  "POST /agents/{name}/a2a": chatting(200),
  "POST /agents/{name}/agui": chatting(200),
  "GET /agents/{name}/a2a/.well-known/agent-card.json": chatting(200),
  // The permissions of each tool are tested with the tools (mcp.test.ts).
  "POST /mcp": { own: 200, stranger: 200, agentKeys: [200, 200, 200] },
  "POST /agents/{name}/conversation/reset": account(200, 404),
  "POST /agents/{name}/suspend": account(200, 404),
  "POST /agents/{name}/resume": account(200, 404),
  "POST /agents/{name}/restart": account(200, 404),
  "POST /agents/{name}/upgrade": account(200, 404),
  "POST /agents/{name}/snapshots": account(201, 404),
  "GET /agents/{name}/snapshots": account(200, 404),
  "POST /agents/{name}/rollback": account(200, 404),
  "GET /agents/{name}/export": account(200, 404),
  // Without an archive.
  "POST /imports": account(400, 400),
  "DELETE /agents/{name}/snapshots/{snapshot}": account(204, 404),
  "DELETE /agents/{name}": account(204, 404),
  "GET /admin/capacity": operator(200),
  "GET /admin/reachability": operator(200),
  "POST /admin/backups": operator(201),
  "GET /admin/backups/{id}": operator(404),
  "DELETE /admin/backups/{id}": operator(404),
  "GET /admin/orphans": operator(200),
  "POST /admin/orphans/{id}/give-back": operator(404),
  "DELETE /admin/orphans/{id}": operator(404),
  "GET /admin/credits": operator(200),
  "POST /admin/credits/grants": operator(201),
  "POST /admin/signing-keys": operator(201),
  "GET /admin/users": operator(200),
  "POST /admin/users": operator(201),
  "POST /admin/users/{name}/reset": operator(200),
  "POST /admin/users/{name}/disable": operator(200),
  "POST /admin/users/{name}/enable": operator(200),
};

const operations = Object.keys(expected);

/** The operations that a viewer of the workspace may do. */
const viewersMay = [
  "GET /account",
  "GET /account/programs",
  "DELETE /account/programs/{id}",
  "GET /me",
  "GET /me/profile",
  "PATCH /me/profile",
  "POST /me/profile/verify-email",
  "POST /me/profile/test",
  "GET /me/profile/agents",
  "PUT /me/profile/agents/{name}",
  "DELETE /me/profile/agents/{name}",
  "GET /inbox",
  "GET /inbox/unread",
  "POST /inbox/read",
  "POST /inbox/dismiss",
  "DELETE /inbox/{id}",
  "GET /workspaces",
  "POST /workspaces",
  "GET /workspaces/{name}/members",
  "DELETE /workspaces/{name}/members/{id}",
  "POST /invitations/{token}/accept",
  "GET /deleted-workspaces",
  "GET /me/push-subscriptions",
  "POST /me/push-subscriptions",
  "DELETE /me/push-subscriptions/{id}",
  "POST /deleted-workspaces/{id}/restore",
  "GET /events",
  "GET /turns",
  "GET /search",
  "GET /models",
  "GET /providers",
  "GET /runtimes",
  "GET /agents",
  "GET /agents/{name}",
  "GET /agents/{name}/install-status",
  "GET /agents/{name}/files/{path}",
  "GET /agents/{name}/conversations",
  "GET /agents/{name}/conversations/{conversation}",
  "GET /agents/{name}/turns",
  "GET /agents/{name}/turns/{turnId}",
  "GET /agents/{name}/turns/{turnId}/events",
  "GET /agents/{name}/turns/{turnId}/changes",
  "GET /agents/{name}/changes",
  "GET /approvals",
  "GET /agents/{name}/turns/{turnId}/approvals",
  "GET /automations",
  "GET /automations/{name}",
  "GET /automations/{name}/runs",
  "GET /schedule-times",
  "GET /automations/{name}/deliveries",
  "GET /agents/{name}/queue",
  "GET /agents/{name}/uploads",
  "GET /agents/{name}/uploads/{uploadId}",
  "GET /agents/{name}/uploads/{uploadId}/content",
  "GET /agents/{name}/snapshots",
  "GET /agents/{name}/a2a/.well-known/agent-card.json",
  "GET /v1/models",
  "GET /v1/models/{model}",
  "GET /v1/responses/{responseId}",
  "GET /v1/responses/{responseId}/input_items",
  "GET /v1/files",
  "GET /v1/files/{fileId}",
  "GET /v1/files/{fileId}/content",
  "GET /v1/conversations/{conversationId}",
  "GET /v1/conversations/{conversationId}/items",
  "GET /v1/conversations/{conversationId}/items/{itemId}",
  // Each of their methods and tools is an operation with a permission of its own.
  "POST /agents/{name}/a2a",
  "POST /mcp",
];
const membersMayNot = [
  "POST /providers",
  "PATCH /providers/{name}",
  "DELETE /providers/{name}",
  "POST /providers/{name}/login",
  "POST /providers/{name}/test",
  "PUT /secrets/{secret}",
  "DELETE /secrets/{secret}",
  "POST /secrets/{secret}/connect",
  "POST /secrets/{secret}/confirm",
  "PUT /skills/{skill}/archive",
  "PUT /skills/{skill}",
  "DELETE /skills/{skill}",
  "POST /webhooks",
  "GET /webhooks",
  "GET /webhooks/{id}",
  "PATCH /webhooks/{id}",
  "DELETE /webhooks/{id}",
  "POST /webhooks/{id}/rotate",
  "POST /webhooks/{id}/test",
  "GET /webhooks/{id}/deliveries",
  "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver",
  "PATCH /billing",
  "POST /billing/top-ups",
  "PATCH /workspaces/{name}",
  "DELETE /workspaces/{name}",
  "PATCH /workspaces/{name}/members/{id}",
  "POST /workspaces/{name}/invitations",
  "GET /workspaces/{name}/invitations",
  "DELETE /workspaces/{name}/invitations/{id}",
];
const adminsMayNot = ["DELETE /workspaces/{name}"];
/** Statuses for a member of the workspace that differ from its owner's: 404 for another's key, 403 for yourself alone. */
const ofMembers: Readonly<Record<string, number>> = {
  "DELETE /keys/{id}": 404,
  "GET /secrets/{secret}": 404,
  "GET /skills/{skill}": 404,
  "DELETE /workspaces/{name}/members/{id}": 403,
};
/** As `ofMembers`: nothing was written or created before they read it. */
const ofViewers: Readonly<Record<string, number>> = {
  ...ofMembers,
  "GET /agents/{name}/files/{path}": 404,
  "GET /automations/{name}": 404,
  "GET /automations/{name}/runs": 404,
  "GET /automations/{name}/deliveries": 404,
};

/** No key holder has its private part. */
const sshKey = `ssh-ed25519 ${Buffer.concat([Buffer.from("0000000b7373682d6564323535313900000020", "hex"), Buffer.alloc(32)]).toString("base64")}`;

/** A tar of ASCII. */
const skillArchive = (await tarOf({ "SKILL.md": skillText("pdf-forms", described) })).toString("latin1");

/** A body where the operation needs one that is right. */
const bodies: Readonly<Record<string, (target: Target) => unknown>> = {
  "POST /agents/{name}/turns/{turnId}/changes/revert": () => ({ files: ["none.txt"] }),
  "POST /agents": () => ({ name: `made-${randomUUID().slice(0, 8)}` }),
  "POST /agents/{name}/commands": () => ({ command: "true" }),
  "POST /agents/{name}/commands/{commandId}/signal": () => ({ signal: "SIGTERM" }),
  "POST /agents/{name}/tickets": () => ({ for: "terminal" }),
  "POST /agents/{name}/ports/{port}/share": () => ({ public: true }),
  "POST /agents/{name}/ssh": () => ({ publicKey: sshKey }),
  "POST /agents/{name}/snapshots": () => ({ name: "then" }),
  "POST /agents/{name}/rollback": () => ({ snapshot: "then" }),
  "PATCH /agents/{name}": () => ({ instructions: "Be brief." }),
  "PUT /agents/{name}/network": () => ({ allow: ["*"], deny: [] }),
  "POST /agents/{name}/chat": () => ({ message: "hello" }),
  // As bytes.
  "POST /agents/{name}/uploads": () => ({ a: "file" }),
  "POST /providers": ({ name }) => ({ name, kind: "openai-compatible", baseUrl: "https://example.com/v1" }),
  "PATCH /providers/{name}": () => ({ models: ["llama"] }),
  "POST /providers/{name}/test": () => ({}),
  "POST /automations": ({ name }) => ({
    name,
    agent: name,
    message: "hello",
    trigger: { type: "hook", verify: "bearer" },
  }),
  "POST /automations/{name}/rotate-secret": () => ({}),
  "PATCH /automations/{name}": () => ({ message: "other" }),
  "POST /webhooks": () => ({ url: "https://example.com/hook", disabled: true }),
  "PATCH /webhooks/{id}": () => ({ disabled: true }),
  "POST /agents/{name}/conversations": () => ({}),
  "PATCH /agents/{name}/conversations/{conversation}": () => ({ title: "hello" }),
  "PATCH /agents/{name}/turns/{turnId}": () => ({ position: 1 }),
  "POST /agents/{name}/queue": () => ({ action: "resume" }),
  "POST /agents/{name}/turns/{turnId}/approvals/{approvalId}": () => ({ decision: "allow" }),
  "POST /v1/responses": ({ name }) => ({ model: name, input: "hello" }),
  "POST /v1/responses/compact": ({ name }) => ({ model: name, input: "hello" }),
  "POST /v1/chat/completions": ({ name }) => ({ model: name, messages: [{ role: "user", content: "hello" }] }),
  "POST /v1/files": () => ({ a: "file" }),
  "POST /v1/conversations": () => ({}),
  "POST /v1/conversations/{conversationId}": () => ({ metadata: { a: "b" } }),
  "POST /v1/conversations/{conversationId}/items": () => ({ items: [{ role: "user", content: "hello" }] }),
  "PUT /agents/{name}/secrets/{secret}": () => ({ value: "hush", hosts: ["example.com"] }),
  "PUT /secrets/{secret}": () => ({ value: "hush", hosts: ["example.com"] }),
  "POST /secrets/{secret}/connect": () => ({ url: "https://127.0.0.1/mcp" }),
  "POST /secrets/{secret}/confirm": () => ({ code: "AAAA-AAAA" }),
  "PUT /skills/{skill}/archive": () => skillArchive,
  "PUT /skills/{skill}": () => ({ agents: [] }),
  "POST /agents/{name}/agui": () => ({ threadId: "t", runId: "r", messages: [{ role: "user", content: "hello" }] }),
  "POST /agents/{name}/a2a": ({ turnId }) => ({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: turnId } }),
  "POST /mcp": () => ({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  "POST /keys": () => ({}),
  "POST /me/push-subscriptions": () => ({
    endpoint: "https://example.com/push",
    keys: { p256dh: createECDH("prime256v1").generateKeys("base64url"), auth: "A".repeat(22) },
  }),
  "PATCH /me/profile": () => ({ notify: "needs-me" }),
  "POST /inbox/read": () => ({ upTo: 1 }),
  "POST /inbox/dismiss": () => ({ upTo: 1 }),
  "POST /me/profile/verify-email": () => ({ token: "none" }),
  "PUT /me/profile/agents/{name}": () => ({ notify: "none" }),
  "POST /workspaces": () => ({ name: `made-${randomUUID().slice(0, 8)}` }),
  "PATCH /workspaces/{name}": () => ({ name: "operator" }),
  "PATCH /workspaces/{name}/members/{id}": () => ({ role: "viewer" }),
  "POST /workspaces/{name}/invitations": () => ({}),
  "POST /billing/top-ups": () => ({ credits: "100" }),
  "PATCH /billing": () => ({ monthlyLimit: null }),
  "POST /admin/credits/grants": ({ user }) => ({ user, credits: "5" }),
  "POST /admin/orphans/{id}/give-back": () => ({ name: "found" }),
  "POST /admin/signing-keys": () => ({}),
  "POST /admin/users": () => ({ name: `made-${randomUUID().slice(0, 8)}` }),
};

const queries: Readonly<Record<string, string>> = {
  "GET /agents/{name}/changes": "?since=none",
  "GET /search": "?q=hello",
  "GET /schedule-times": "?cron=0+3+*+*+*&timeZone=UTC",
  "POST /agents/{name}/resume": "?wait=ready",
  "POST /agents/{name}/restart": "?wait=ready",
  "POST /agents/{name}/rollback": "?wait=ready",
  "POST /agents/{name}/files/{path}": "?action=copy&to=copied.txt",
};

async function statusOf(operation: string, client: TestClient, target: Target): Promise<number> {
  const [method, path] = operation.split(" ") as [string, string];
  const { turnId, keyId, responseId } = target;
  const name = path.startsWith("/admin/users")
    ? target.user
    : path.startsWith("/workspaces")
      ? target.workspace
      : target.name;
  const filled = path
    .replace("{name}", name)
    .replace("{token}", "none")
    .replace("{turnId}", turnId)
    .replace("{deliveryId}", turnId)
    .replace("{responseId}", responseId)
    .replace("{conversationId}", target.conversationId)
    .replace("{fileId}", "file-none")
    .replace("{itemId}", `msg_${turnId.replaceAll("-", "")}_in`)
    .replace("{model}", name)
    .replace("{commandId}", turnId)
    .replace("{conversation}", "1")
    .replace("{shareId}", turnId)
    .replace("{snapshot}", "then")
    .replace("{port}", "3000")
    .replace("{id}", keyId)
    .replace("{secret}", "TOKEN")
    .replace("{skill}", "pdf-forms")
    .replace("{path}", "notes.txt");
  const query = queries[operation] ?? "";
  const { status, body } = await call(client, method, filled + query, bodies[operation]?.(target));
  if (status >= 400 && path.startsWith("/v1/")) expect(body.error.message).toEqual(expect.any(String));
  else if (status >= 400) expect(ErrorBody.parse(body).statusCode).toBe(status);
  return status;
}

/** Each answer is one that the OpenAPI document describes. */
async function call(client: TestClient, method: string, path: string, body: unknown) {
  const answer = await answerOf(client, method, path, body);
  requireDescribed(method, path, answer);
  return answer;
}

/** The answer, without the body of a stream that has no end. */
async function answerOf(client: TestClient, method: string, path: string, body: unknown): Promise<Answer> {
  const headers = path === "/mcp" ? { accept: "application/json, text/event-stream" } : undefined;
  if (path !== "/events") return client.call(method, path, body, headers);
  const response = await client.fetch(method, path);
  const { status, headers: answered, ok } = response;
  if (!ok) return { status, headers: answered, body: await response.json() };
  await response.body!.cancel();
  return { status, headers: answered, body: null };
}

/** The status that each operation is answered with, called on one target after the other. */
async function statusesOf(client: TestClient, target: Target): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  for (const operation of operations) statuses[operation] = await statusOf(operation, client, target);
  return statuses;
}

const ofKeys = ({ own, stranger, keys = [own, stranger] }: Expected) => ({ own: keys[0], stranger: keys[1] });

function statusesFor(pick: (row: Expected) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(expected).map(([operation, row]) => [operation, pick(row)]));
}

/** `begunBy`: whose turn it is that calls may be about. */
async function newTarget(begunBy: (name: string) => Promise<TestClient>, maker = owner, fields = {}): Promise<Target> {
  const name = `agent-${randomUUID().slice(0, 8)}`;
  await maker.createAgent(name, fields);
  const beginner = await begunBy(name);
  const conversation = (await beginner.call("POST", "/v1/conversations", {})).body.id;
  const begun = await beginner.call("POST", "/v1/responses", { model: name, input: "hello", conversation });
  const turnId = begun.headers.get("x-turn-id")!;
  const user = `user-${randomUUID().slice(0, 8)}`;
  await owner.call("POST", "/admin/users", { name: user });
  const { id: keyId } = (await owner.call("POST", "/keys", {})).body;
  const { id: workspace } = (await owner.call("GET", "/account")).body;
  return { name, turnId, responseId: begun.body.id, conversationId: conversation, user, keyId, workspace };
}

const byOwner = async () => owner;
const ownersTarget = () => newTarget(byOwner);

test("there is a row for each operation that needs credentials, and no other", async () => {
  const { paths } = (await owner.call("GET", "/openapi.json")).body;
  const guarded: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, { security: unknown[] }>>(paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      if (security.length > 0) guarded.push(`${method.toUpperCase()} ${path}`);
    }
  }
  expect(guarded.sort()).toEqual([...operations].sort());
});

/** A key that was good, and is no more. */
async function ended(change: { expires_at?: Date; revoked_at?: Date }): Promise<TestClient> {
  const { body } = await owner.call("POST", "/keys", {});
  const database = await databaseOf(service);
  await database.updateTable("api_keys").set(change).where("id", "=", body.id).execute();
  await database.destroy();
  return new TestClient(owner.url, body.key);
}

const useless: [string, () => Promise<TestClient>][] = [
  ["no credential", async () => new TestClient(owner.url, "")],
  ["a broken key", async () => new TestClient(owner.url, `${owner.key.slice(0, -1)}!`)],
  ["a key that nobody has", async () => new TestClient(owner.url, createKey("full").key)],
  ["an expired key", () => ended({ expires_at: new Date(Date.now() - 1) })],
  ["a revoked key", () => ended({ revoked_at: new Date() })],
  ["a broken token", async () => new TestClient(owner.url, `${signedIn.key.slice(0, -4)}AAAA`)],
];

test.each(useless)("%s opens nothing", async (_case, make) => {
  expect(await statusesOf(await make(), await ownersTarget())).toEqual(statusesFor(() => 401));
});

test.each<[string, () => TestClient, (row: Expected) => number]>([
  ["a full key of the account", () => owner, (row) => ofKeys(row).own],
  ["a token of the account", () => signedIn, ({ own }) => own],
])("%s may do everything", async (_case, client, pick) => {
  expect(await statusesOf(client(), await ownersTarget())).toEqual(statusesFor(pick));
});

test.each<[string, () => TestClient, (row: Expected) => number]>([
  ["a full key of another account", () => stranger, (row) => ofKeys(row).stranger],
  ["a token of another account", () => signedInStranger, (row) => row.stranger],
])("%s finds nothing of this one, and does nothing to it", async (_case, client, pick) => {
  const target = await ownersTarget();
  const before = await owner.call("GET", `/agents/${target.name}`);
  expect(await statusesOf(client(), target)).toEqual(statusesFor(pick));
  expect((await owner.call("GET", `/agents/${target.name}`)).body).toEqual(before.body);
});

test("an external key of the agent may talk to it, and no more", async () => {
  let key = owner;
  const target = await newTarget(async (name) => {
    key = await newKey(owner, { name: "narrow", kind: "agent", agents: [name] });
    return key;
  });
  expect(await statusesOf(key, target)).toEqual(statusesFor(({ agentKeys: [ofThis] }) => ofThis));
});

test("an external key of the agent sees no turn that another has begun", async () => {
  const target = await ownersTarget();
  const key = await newKey(owner, { name: "narrow", kind: "agent", agents: [target.name] });
  for (const operation of operations.filter((each) => /\{(turn|response)Id\}/.test(each))) {
    expect([operation, await statusOf(operation, key, target)]).toEqual([operation, 403]);
  }
});

test("an external key of another agent may do nothing with this one", async () => {
  const key = await newKey(owner, { name: "narrow", kind: "agent", agents: ["another"] });
  const statuses = await statusesOf(key, await ownersTarget());
  expect(statuses).toEqual(statusesFor(({ agentKeys: [, ofAnother] }) => ofAnother));
});

test("an external key of another account's agent does not find this one", async () => {
  await stranger.createAgent("their-own");
  const key = await newKey(stranger, { name: "narrow", kind: "agent", agents: ["their-own"] });
  const statuses = await statusesOf(key, await ownersTarget());
  expect(statuses).toEqual(statusesFor(({ agentKeys: [, , foreign] }) => foreign));
});

/** A person who joins the owner's workspace with this role: a client with their token, and one with a key of theirs. */
async function join(role: string): Promise<{ token: TestClient; key: TestClient }> {
  const name = `${role}-${randomUUID().slice(0, 8)}`;
  await useLink((await owner.call("POST", "/admin/users", { name })).body.link, password);
  const personal = await tokenOf(name);
  const { id: workspace } = (await owner.call("GET", "/account")).body;
  const invitation = await owner.call("POST", `/workspaces/${workspace}/invitations`, { role });
  expect((await personal.call("POST", `/invitations/${invitation.body.token}/accept`)).status).toBe(200);
  const token = new TestClient(owner.url, personal.key, workspace);
  const made = await owner.call("POST", "/keys", {});
  expect(made.status).toBe(201);
  const key = role === "viewer" ? token : await newKey(token, {});
  return { token, key };
}

/** Each role with its operations, and the statuses that differ from the owner's. */
const roleRows: [string, (operation: string) => boolean, Readonly<Record<string, number>>][] = [
  ["admin", (operation) => !adminsMayNot.includes(operation), {}],
  ["member", (operation) => !membersMayNot.includes(operation), ofMembers],
  ["viewer", (operation) => viewersMay.includes(operation), ofViewers],
];

test.each(roleRows)(
  "the role %s may do what its row says, with a token and with a key",
  { timeout: 120_000 },
  async (role, may, other) => {
    const { token, key } = await join(role);
    for (const [client, isKey] of [
      [token, false],
      [key, key !== token],
    ] as const) {
      const wanted = Object.entries(expected).map(([operation, row]) => {
        const own = isKey ? ofKeys(row).own : row.own;
        const isRefused = operation.includes(" /admin/") || !may(operation);
        return [operation, isRefused ? 403 : (other[operation] ?? own)];
      });
      expect(await statusesOf(client, await ownersTarget())).toEqual(Object.fromEntries(wanted));
    }
  },
);

/** The operations of owners and admins on another person's private agent. */
const overseersMay = ["GET /agents/{name}", "POST /agents/{name}/suspend", "DELETE /agents/{name}"];
/** Operations on one agent whose path does not begin with it. */
const alsoOfAgent = [
  "POST /automations",
  "PUT /me/profile/agents/{name}",
  "DELETE /me/profile/agents/{name}",
  "GET /v1/models/{model}",
  "POST /v1/responses",
  "POST /v1/responses/compact",
  "POST /v1/chat/completions",
  "GET /v1/responses/{responseId}",
  "GET /v1/responses/{responseId}/input_items",
  "POST /v1/responses/{responseId}/cancel",
  "DELETE /v1/responses/{responseId}",
  "GET /v1/conversations/{conversationId}",
  "POST /v1/conversations/{conversationId}",
  "GET /v1/conversations/{conversationId}/items",
  "GET /v1/conversations/{conversationId}/items/{itemId}",
  "POST /v1/conversations/{conversationId}/items",
  "DELETE /v1/conversations/{conversationId}/items/{itemId}",
  "DELETE /v1/conversations/{conversationId}",
];
/** Asked for without a WebSocket, these do not look for the agent. */
const sockets = [
  "GET /agents/{name}/terminal",
  "GET /agents/{name}/ports/{port}/connection",
  "GET /agents/{name}/ssh/connection",
];

test.each(roleRows)(
  "the role %s may do only what is open to it with another person's private agent",
  { timeout: 120_000 },
  async (role, may, other) => {
    const { token: maker } = await join("member");
    const { token } = await join(role);
    const target = await newTarget(async () => maker, maker, { private: true });
    const wanted = Object.entries(expected).map(([operation, { own }]) => {
      const usual = operation.includes(" /admin/") || !may(operation) ? 403 : (other[operation] ?? own);
      const isOfAgent = operation.includes(" /agents/") || alsoOfAgent.includes(operation);
      if (operation === "POST /agents/{name}/tickets") return [operation, role === "admin" ? 403 : 404];
      if (operation.includes(" /automations/")) return [operation, usual === 403 ? 403 : 404];
      if (!isOfAgent || usual === 403 || sockets.includes(operation)) return [operation, usual];
      if (role !== "admin") return [operation, 404];
      return [operation, overseersMay.includes(operation) ? own : 403];
    });
    expect(await statusesOf(token, target)).toEqual(Object.fromEntries(wanted));
  },
);
