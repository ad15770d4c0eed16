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

// All that a credential has opened ends with it, and its tickets open nothing more.

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

/** Opens one of each with a credential. */
async function openAll(credential: string) {
  const client = new TestClient(service.client.url, credential);
  const { ports } = new Berth({ url: client.url, key: credential }).agent("ada");
  const ticket = async (body: object) => (await client.call("POST", "/agents/ada/tickets", body)).body.ticket;

  const events = await client.fetch("GET", "/events");
  const log = await client.fetch("GET", "/agents/ada/logs?follow=true");
  expect([events.status, log.status]).toEqual([200, 200]);
  const sockets = ["/agents/ada/terminal", `/agents/ada/ports/${program.port}/connection`].map(
    (path) =>
      new WebSocket(client.url.replace("http", "ws") + path, { headers: { authorization: `Bearer ${credential}` } }),
  );
  await Promise.all(sockets.map((socket) => once(socket, "open")));
  const url = await ports.preview(program.port);
  const { cookie } = await visit(url);
  expect((await visit(new URL(url).origin, cookie)).status).toBe(200);
  return {
    ended: [
      ...[events, log].map((stream) => stream.text().catch(() => "")),
      ...sockets.map((each) => once(each, "close")),
    ],
    page: async () => (await visit(new URL(url).origin, cookie)).status,
    preview: await ports.preview(program.port),
    file: await ticket({ for: "file", path: "f" }),
    terminal: await ticket({ for: "terminal" }),
  };
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const account = () => database.updateTable("accounts").where("subject", "=", "somebody");
const newKeyOf = async (body: object) => {
  const owner = new TestClient(service.client.url, await issuer.sign());
  return { owner, ...(await owner.call("POST", "/keys", body)).body };
};
/** How long a credential that expires lives: everything is opened before. */
const lifeSeconds = 10;

test.each<[string, () => Promise<{ credential: string; end: () => Promise<unknown> }>]>([
  [
    "a token that expires",
    async () => ({ credential: await issuer.sign({ exp: inSeconds(lifeSeconds) }), end: async () => {} }),
  ],
  [
    "a token whose user's password is reset",
    async () => ({
      credential: await issuer.sign(),
      end: () =>
        account()
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
])("%s ends streams, terminals, connections, previews and tickets", { timeout: 60_000 }, async (_, make) => {
  await account().set({ tokens_from: null, disabled_at: null }).execute();
  const { credential, end } = await make();
  const opened = await openAll(credential);
  await end();
  await Promise.all(opened.ended);
  expect(await opened.page()).toBe(401);
  expect((await visit(opened.preview)).status).toBe(401);
  const { url } = service.client;
  expect((await fetch(`${url}/agents/ada/files/f?ticket=${opened.file}`)).status).toBe(401);
  const socket = new WebSocket(`${url.replace("http", "ws")}/agents/ada/terminal?ticket=${opened.terminal}`);
  const [, refused] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
  expect(refused.statusCode).toBe(401);
  socket.once("error", () => {});
  socket.terminate();
});
