import { once } from "node:events";
import { request, type Server } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, createServer, type Server as TcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Downloads } from "./downloads.ts";
import { listenEgressProxy } from "./egress-proxy.ts";
import { Uplink } from "./uplink.ts";

// Nothing that programs or servers send may end the runner. All destinations are one server here.

let bytes = "";
let web: TcpServer;
let proxy: Server;
let models: Server;
const uplink = new Uplink();
const http2 = createHttp2Server();
const portOf = (server: Server | TcpServer) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  web = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(bytes));
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

test.each([
  "HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n",
  "HTTP/1.1 200 O\u0001K\r\nContent-Length: 0\r\n\r\n",
  "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
])("a server that answers %j is one that broke off", async (answer) => {
  bytes = answer;
  const asked = request({ port: portOf(proxy), host: "127.0.0.1", path: "http://example.com/" }).end();
  const [response] = (await once(asked, "response")) as [import("node:http").IncomingMessage];
  expect(response.statusCode).toBe(502);
  expect(await text(response)).toContain("broke the connection off");
});

test.each([{ te: "gzip" }, { "proxy-connection": "keep-alive" }, { connection: "x-own", "x-own": "1" }])(
  "a model call with the header %j is made without it",
  async (headers) => {
    const asked = request({ port: portOf(models), host: "127.0.0.1", path: "/", method: "POST", headers }).end("{}");
    const [response] = (await once(asked, "response")) as [import("node:http").IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([200, "model"]);
  },
);
