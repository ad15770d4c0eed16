import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Berth } from "@berth/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { TestClient } from "../support/client.ts";
import { Editor } from "../support/editor.ts";
import { Program } from "../support/http-program.ts";
import { type Member, ServerGroup } from "../support/server-group.ts";
import { signIn, useLink } from "../support/sign-in.ts";

// Streams and connections are closed when a person loses their agent, whichever of two servers they and its maker use.

const password = "correct horse battery";
const upgrade = { connection: "upgrade", upgrade: "websocket" };

let group: ServerGroup;
let program: Program;
let leader: Member;
let standby: Member;
let workspace: string;
let people = 0;

beforeAll(async () => {
  group = await ServerGroup.start(2, { memoryMiB: 100_000 });
  program = await Program.start();
  // A page that never ends.
  program.answer = (_, response) => void response.write("begun");
  program.server.on("upgrade", (_, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  });
  leader = await group.leader();
  [standby] = (await group.others()) as [Member];
  workspace = (await leader.client.call("GET", "/me")).body.workspace.id;
});
afterAll(async () => {
  program?.[Symbol.dispose]();
  await group?.[Symbol.asyncDispose]();
});

/** A key of a new member of the workspace. */
async function keyOfMember(): Promise<string> {
  const { client } = leader;
  const name = `person-${people++}`;
  await useLink((await client.call("POST", "/admin/users", { name })).body.link, password);
  const { token } = (await client.call("POST", `/workspaces/${workspace}/invitations`, { role: "member" })).body;
  const person = new TestClient(client.url, (await signIn(client.url, name, password)).access_token);
  expect((await person.call("POST", `/invitations/${token}/accept`)).status).toBe(200);
  return (await new TestClient(client.url, person.key, workspace).call("POST", "/keys", {})).body.key;
}

/** The names of what is open. */
const open = new Set<string>();

function opened(name: string, end: Promise<unknown>): void {
  open.add(name);
  const closed = () => open.delete(name);
  void end.then(closed, closed);
}

async function openStream(client: TestClient, name: string, path: string, body?: object): Promise<Response> {
  const accept = path === "/mcp" ? "application/json, text/event-stream" : "text/event-stream";
  const response = await client.fetch(body === undefined ? "GET" : "POST", path, body, { accept });
  expect(response.status, name).toBe(200);
  opened(name, response.text());
  return response;
}

async function openSocket({ url, key }: TestClient, path: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace("http", "ws") + path, { headers: { authorization: `Bearer ${key}` } });
  socket.on("error", () => {});
  await once(socket, "open");
  opened(path, once(socket, "close"));
  return socket;
}

/** A page that is being loaded, and a connection that a page has made. */
async function openPreview({ url, key }: TestClient, agent: string): Promise<void> {
  const { host, pathname, search } = new URL(await new Berth({ url, key }).agent(agent).ports.preview(program.port));
  const visit = (path: string, headers: Record<string, string>) =>
    httpRequest({ port: new URL(url).port, path, headers: { host, ...headers } }).end();
  const [entered] = (await once(visit(pathname + search, {}), "response")) as [IncomingMessage];
  entered.resume();
  const cookie = entered.headers["set-cookie"]![0]!.split(";")[0]!;
  const [page] = (await once(visit("/", { cookie }), "response")) as [IncomingMessage];
  expect(page.statusCode).toBe(200);
  opened("a page", once(page.on("error", () => {}).resume(), "close"));
  const [, socket] = (await once(visit("/", { cookie, ...upgrade }), "upgrade")) as [unknown, Socket];
  opened("a connection of a page", once(socket.on("error", () => {}).resume(), "close"));
}

async function openMachine(client: TestClient, agent: string): Promise<void> {
  const path = `/agents/${agent}`;
  const chat = await openStream(client, "a chat", `${path}/chat`, { message: "hang" });
  await openStream(client, "a turn's events", `${path}/turns/${chat.headers.get("x-turn-id")}/events`);
  await openStream(client, "a log", `${path}/logs?follow=true`);
  await openStream(client, "a command", `${path}/commands`, { command: "sleep 1000" });
  await openPreview(client, agent);
  for (const end of ["terminal", `ports/${program.port}/connection`, "ssh/connection"])
    await openSocket(client, `${path}/${end}`);
}

/** Each begins a turn that has no end. */
const protocols: Record<string, (client: TestClient, agent: string) => Promise<unknown>> = {
  mcp: (client, agent) => {
    const params = { name: "ask_agent", arguments: { agent, message: "hang" }, _meta: { progressToken: 1 } };
    return openStream(client, "MCP", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  },
  agui: (client, agent) => {
    const messages = [{ id: "1", role: "user", content: "hang" }];
    const asked = { threadId: "t", runId: "r", messages, tools: [], context: [], state: {}, forwardedProps: {} };
    return openStream(client, "AG-UI", `/agents/${agent}/agui`, asked);
  },
  responses: (client, model) =>
    openStream(client, "OpenAI's responses", "/v1/responses", { model, input: "hang", stream: true }),
  socket: async (client, model) => {
    const socket = await openSocket(client, "/v1/responses");
    socket.send(JSON.stringify({ type: "response.create", model, input: "hang" }));
    await once(socket, "message");
  },
  acp: async (client, agent) => {
    const editor = new Editor(client, agent);
    const prompt = editor.prompt(await editor.open(), "hang");
    opened(
      "an editor",
      prompt.catch(() => editor[Symbol.asyncDispose]()),
    );
    await expect.poll(async () => (await client.call("GET", `/agents/${agent}/turns`)).body.data.length).toBe(1);
  },
};

/** How another person than the maker loses the agents. */
const ends = {
  "privacy of the agents": async (maker: TestClient, agents: string[]) => {
    for (const agent of agents) {
      expect((await maker.call("PATCH", `/agents/${agent}`, { private: true })).body.private).toBe(true);
    }
  },
  "removal from the workspace": async ({ url }: TestClient, _: string[], person: string) => {
    const owner = new TestClient(url, leader.client.key);
    expect((await owner.call("DELETE", `/workspaces/${workspace}/members/${person}`)).status).toBe(204);
  },
};

const servers = { leader: () => [leader, standby], standby: () => [standby, leader] };

test.each(
  Object.keys(servers).flatMap((at) =>
    Object.keys(ends).map((end) => [end, at] as [keyof typeof ends, keyof typeof servers]),
  ),
)("%s closes what another person has opened at the %s", async (end, at) => {
  const [here, there] = servers[at]().map(({ client }) => client.url) as [string, string];
  const maker = new TestClient(there, await keyOfMember());
  const other = new TestClient(here, await keyOfMember());
  const { id } = (await other.call("GET", "/me")).body.person;
  const prefix = `agent-${people}`;
  const agents = ["machine", ...Object.keys(protocols)].map((each) => `${prefix}-${each}`);
  await Promise.all(agents.map((agent) => maker.createAgent(agent)));
  await openMachine(other, `${prefix}-machine`);
  for (const [protocol, begin] of Object.entries(protocols)) await begin(other, `${prefix}-${protocol}`);
  expect(open.size).toBe(9 + Object.keys(protocols).length);
  const own = await maker.fetch("GET", `/agents/${prefix}-machine/logs?follow=true`);
  const closed = own.body!.pipeTo(new WritableStream()).then(
    () => "closed",
    () => "closed",
  );

  await ends[end](maker, agents, id);
  await expect.poll(() => [...open]).toEqual([]);
  expect(await Promise.race([closed, "open"])).toBe("open");
  // Turns that others have begun continue.
  expect((await maker.call("GET", `/agents/${prefix}-machine/turns`)).body.data).toMatchObject([{ status: "running" }]);
});
