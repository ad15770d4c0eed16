import { once } from "node:events";
import { type IncomingMessage, type RequestOptions, request, type Server } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, createServer, type Server as TcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Downloads } from "./downloads.ts";
import { listenEgressProxy } from "./egress-proxy.ts";
import { Uplink } from "./uplink.ts";

// Nothing that programs or servers send may end the runner. All destinations are one server here.

let bytes = "";
/** The request's head as the server received it. */
let asked = "";
/** Whether the server leaves its connections open. */
let holds = false;
let web: TcpServer;
let proxy: Server;
let models: Server;
const uplink = new Uplink();
const http2 = createHttp2Server();
const portOf = (server: Server | TcpServer) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  web = createServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", (request) => {
        asked = request.toString("latin1");
        if (holds) socket.write(bytes, "latin1");
        else socket.end(bytes, "latin1");
      });
  }).listen(0, "127.0.0.1");
  await once(web, "listening");
  http2.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    stream.respond({ ":status": 200 });
    if (headers[":method"] !== "CONNECT") return void stream.end("model");
    const socket = connect(portOf(web), "127.0.0.1").on("error", () => {});
    stream.pipe(socket).pipe(stream);
  });
  const dialled = createServer((socket) => http2.emit("connection", socket)).listen(0, "127.0.0.1");
  await once(dialled, "listening");
  uplink.attach(connect(portOf(dialled), "127.0.0.1"));
  dialled.unref();
  proxy = listenEgressProxy(uplink, new Downloads(""), 0);
  models = uplink.listen(0);
  await Promise.all([proxy, models].map((server) => once(server, "listening")));
});
afterAll(() => {
  for (const server of [proxy, models]) server.close().closeAllConnections();
  web.close();
});

beforeEach(() => {
  holds = false;
  bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
});

async function ask(path: string, options: RequestOptions = {}): Promise<IncomingMessage> {
  const sent = request({ port: portOf(proxy), host: "127.0.0.1", path, agent: false, ...options }).end();
  return ((await once(sent, "response")) as [IncomingMessage])[0];
}

/** The response to a program that sends this head to the proxy, once it matches. */
async function raw(head: string, expected: RegExp): Promise<string> {
  const socket = connect(portOf(proxy), "127.0.0.1");
  socket.write(head.replaceAll("\n", "\r\n"));
  let received = "";
  for await (const chunk of socket) {
    received += (chunk as Buffer).toString("latin1");
    if (expected.test(received)) break;
  }
  return received;
}

test.each([
  ["HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n", "is not valid HTTP"],
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "is not valid HTTP: Parse Error: Duplicate"],
  [`HTTP/1.1 200 OK\r\nX: ${"a".repeat(300_000)}\r\n\r\n`, "larger than 256 KiB"],
  ["HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "broke the connection off"],
  ["", "broke the connection off"],
])("a server that answers %.80j gets a 502 that says why", async (answer, reason) => {
  bytes = answer;
  const response = await ask("http://example.com/");
  expect([response.statusCode, await text(response)]).toEqual([502, expect.stringContaining(reason)]);
});

test.each([
  "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
  `HTTP/1.1 200 OK\r\nX: ${"a".repeat(21_000)}\r\nContent-Length: 2\r\n\r\nhi`,
])("a careless answer passes: %.60j", async (answer) => {
  bytes = answer;
  const response = await ask("http://example.com/", { maxHeaderSize: 65_536 });
  expect([response.statusCode, await text(response)]).toEqual([200, "hi"]);
});

test("the head of an answer comes before its body, with the server's own bytes", async () => {
  holds = true;
  const snowman = Buffer.from("☃").toString("latin1");
  bytes = `HTTP/1.1 200 OK\r\nX-Own: ${snowman}\r\nContent-Length: 2\r\n\r\n`;
  const received = await raw("GET http://example.com/ HTTP/1.1\nHost: example.com\n\n", /\r\n\r\n/);
  expect(received).toContain(`X-Own: ${snowman}\r\n`);
});

test.each([
  ["http://example.com/a/../b", "/a/../b"],
  ["http://example.com/it's?", "/it's?"],
  ["http://example.com?a=%2e%2E", "/?a=%2e%2E"],
  ["http://example.com", "/"],
  ["http://example.com/#part", "/"],
])("the server is asked for the path of %s as the program wrote it", async (url, path) => {
  await raw(`GET ${url} HTTP/1.1\nHost: example.com\nConnection: close\n\n`, /hi$/);
  expect(asked).toMatch(/^GET /);
  expect(asked.split(" ")[1]).toBe(path);
});

test("a request without a body says so, and has none", async () => {
  await text(await ask("http://example.com/", { method: "POST", headers: { "content-length": 0 } }));
  expect(asked.toLowerCase()).toContain("content-length: 0\r\n");
  await raw("POST http://example.com/ HTTP/1.1\nHost: example.com\nConnection: close\n\n", /hi$/);
  expect(asked.toLowerCase()).toContain("content-length: 0\r\n");
  expect(asked.toLowerCase()).not.toContain("transfer-encoding");
});

test.each(["http", "ws"])("a WebSocket is opened through %s://", async (scheme) => {
  holds = true;
  bytes = "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nfirst";
  const head = `GET ${scheme}://example.com/chat HTTP/1.1\nHost: example.com\nConnection: Upgrade\nUpgrade: websocket\n\n`;
  expect(await raw(head, /first/)).toMatch(/^HTTP\/1\.1 101 [\s\S]*Upgrade: websocket[\s\S]*first$/);
  expect(asked).toMatch(/^GET \/chat HTTP\/1\.1\r\n[\s\S]*upgrade: websocket\r\n/);
});

test("a WebSocket that the server refuses is answered with the server's words", async () => {
  bytes = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno";
  const head = "GET http://example.com/ HTTP/1.1\nHost: example.com\nConnection: Upgrade\nUpgrade: websocket\n\n";
  expect(await raw(head, /no$/)).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n[\s\S]*\r\n\r\nno$/);
});

test.each([{ te: "gzip" }, { "proxy-connection": "keep-alive" }, { connection: "x-own", "x-own": "1" }])(
  "a model call with the header %j is made without it",
  async (headers) => {
    const sent = request({ port: portOf(models), host: "127.0.0.1", path: "/", method: "POST", headers }).end("{}");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([200, "model"]);
  },
);
