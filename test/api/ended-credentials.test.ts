import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { Berth } from "@berth/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { Program } from "../support/http-program.ts";
import { Issuer, newSigningKey } from "../support/issuer.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// All that a credential has opened ends with it, or with its access to the agent. Its tickets open nothing more.

let issuer: Issuer;
let service: ScriptedService;
let database: Database;
let program: Program;
beforeAll(async () => {
  issuer = await Issuer.start([await newSigningKey("first")]);
  service = await ScriptedService.start({
    oidc: { issuer: issuer.url, audience: issuer.audience, clientId: "berth", unknownKeyMs: 600_000 },
  });
  database = await databaseOf(service);
  program = await Program.start();
  await new TestClient(service.client.url, await issuer.sign()).createAgent("ada");
});
afterAll(async () => {
  program[Symbol.dispose]();
  await database.destroy();
  await service[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

/** The status of a page, and the cookie that it sets. */
async function visit(url: string, cookie = ""): Promise<{ status: number; cookie: string }> {
  const { host, pathname, search } = new URL(url);
  const sent = httpRequest({
    port: new URL(service.client.url).port,
    path: pathname + search,
    headers: { host, cookie },
  });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return { status: response.statusCode!, cookie: response.headers["set-cookie"]?.[0]?.split(";")[0] ?? "" };
}

/** Opens one of each with a credential, in its own or in this workspace. */
async function openAll(credential: string, workspace: string | null) {
  const client = new TestClient(service.client.url, credential, workspace);
  const { ports } = new Berth({ url: client.url, key: credential, workspace }).agent("ada");
  const headers = { authorization: `Bearer ${credential}`, ...(workspace && { "berth-workspace": workspace }) };
  const ticket = async (body: object) => (await client.call("POST", "/agents/ada/tickets", body)).body.ticket;

  const events = await client.fetch("GET", "/events");
  const log = await client.fetch("GET", "/agents/ada/logs?follow=true");
  expect([events.status, log.status]).toEqual([200, 200]);
  const sockets = ["/agents/ada/terminal", `/agents/ada/ports/${program.port}/connection`].map(
    (path) => new WebSocket(client.url.replace("http", "ws") + path, { headers }),
  );
  await Promise.all(sockets.map((socket) => once(socket, "open")));
  const url = await ports.preview(program.port);
  const { cookie } = await visit(url);
  expect((await visit(new URL(url).origin, cookie)).status).toBe(200);
  return {
    events: events.text().catch(() => ""),
    ended: [log.text().catch(() => ""), ...sockets.map((each) => once(each, "close"))],
    page: async () => (await visit(new URL(url).origin, cookie)).status,
    preview: await ports.preview(program.port),
    file: await ticket({ for: "file", path: "f" }),
    terminal: await ticket({ for: "terminal" }),
  };
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const person = () => database.updateTable("people").where("subject", "=", "somebody");
const account = () =>
  database
    .updateTable("accounts")
    .where("id", "in", database.selectFrom("people").select("account_id").where("subject", "=", "somebody"));
const newKeyOf = async (body: object) => {
  const owner = new TestClient(service.client.url, await issuer.sign());
  return { owner, ...(await owner.call("POST", "/keys", body)).body };
};
/** A new member of the workspace that ada is in, and their end there. */
async function newMember() {
  const owner = new TestClient(service.client.url, await issuer.sign());
  const { id: workspace } = (await owner.call("GET", "/me")).body.workspace;
  const token = await issuer.sign({ sub: `member ${Math.random()}` });
  const { token: invitation } = (await owner.call("POST", `/workspaces/${workspace}/invitations`, {})).body;
  const member = new TestClient(owner.url, token);
  expect((await member.call("POST", `/invitations/${invitation}/accept`)).status).toBe(200);
  const { id } = (await member.call("GET", "/me")).body.person;
  const path = `/workspaces/${workspace}/members/${id}`;
  const end = async () => expect((await owner.call("DELETE", path)).status).toBe(204);
  const demote = async () => expect((await owner.call("PATCH", path, { role: "viewer" })).status).toBe(200);
  return { token, workspace, member: new TestClient(owner.url, token, workspace), end, demote };
}

/** How long a credential that expires lives: everything is opened before. */
const lifeSeconds = 10;

interface Given {
  credential: string;
  /** Null: the credential's own. */
  workspace?: string;
  end: () => Promise<unknown>;
  /** The status of a request with the credential afterwards, if the credential is still valid. */
  status?: number;
  /** The status of pages and tickets afterwards. Default: 401. */
  closed?: number;
  /** `GET /events` stays open, and ends here. */
  endsEvents?: () => Promise<unknown>;
}

test.each<[string, () => Promise<Given>]>([
  [
    "a token that expires",
    async () => ({ credential: await issuer.sign({ exp: inSeconds(lifeSeconds) }), end: async () => {} }),
  ],
  [
    "a token whose user's password is reset",
    async () => ({
      credential: await issuer.sign(),
      end: () =>
        person()
          .set({ tokens_from: new Date(Date.now() + 60_000) })
          .execute(),
    }),
  ],
  [
    "a key that expires",
    async () => {
      const { key } = await newKeyOf({ expiresAt: new Date(Date.now() + lifeSeconds * 1_000).toISOString() });
      return { credential: key, end: async () => {} };
    },
  ],
  [
    "a key that is revoked",
    async () => {
      const { key, id, owner } = await newKeyOf({});
      return { credential: key, end: () => owner.call("DELETE", `/keys/${id}`) };
    },
  ],
  [
    "a token whose account is disabled",
    async () => ({ credential: await issuer.sign(), end: () => account().set({ disabled_at: new Date() }).execute() }),
  ],
  [
    "a token whose person is removed from the workspace",
    async () => {
      const { token, workspace, end } = await newMember();
      return { credential: token, workspace, end, status: 404 };
    },
  ],
  [
    "a token whose person becomes a viewer",
    async () => {
      const { token, workspace, demote } = await newMember();
      return { credential: token, workspace, end: demote, status: 403 };
    },
  ],
  [
    "a token of another person than the maker of an agent that becomes private",
    async () => {
      const { token, workspace, end } = await newMember();
      const owner = new TestClient(service.client.url, await issuer.sign());
      const hide = async () =>
        expect((await owner.call("PATCH", "/agents/ada", { private: true })).body.private).toBe(true);
      return { credential: token, workspace, end: hide, status: 404, closed: 404, endsEvents: end };
    },
  ],
  [
    "a key whose maker is removed from the workspace",
    async () => {
      const { member, end } = await newMember();
      return { credential: (await member.call("POST", "/keys", {})).body.key, end };
    },
  ],
])("%s ends streams, terminals, connections, previews and tickets", { timeout: 60_000 }, async (_, make) => {
  await person().set({ tokens_from: null }).execute();
  await account().set({ disabled_at: null }).execute();
  await database.updateTable("agents").set({ private: false }).execute();
  const { credential, workspace = null, end, status, closed = 401, endsEvents } = await make();
  const opened = await openAll(credential, workspace);
  await end();
  await Promise.all(opened.ended);
  expect(await opened.page()).toBe(closed);
  expect((await visit(opened.preview)).status).toBe(closed);
  const { url } = service.client;
  const client = new TestClient(url, credential, workspace);
  if (status) expect((await client.call("POST", "/agents/ada/chat", { message: "hello" })).status).toBe(status);
  expect((await fetch(`${url}/agents/ada/files/f?ticket=${opened.file}`)).status).toBe(closed);
  const socket = new WebSocket(`${url.replace("http", "ws")}/agents/ada/terminal?ticket=${opened.terminal}`);
  const [, refused] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  expect(refused.statusCode).toBe(closed);
  socket.once("error", () => {});
  socket.terminate();
  await endsEvents?.();
  await opened.events;
});
