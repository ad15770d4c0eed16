import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { freePort } from "../../src/core/ports.ts";
import { folderPrefix } from "../support/config.ts";
import { Program } from "../support/http-program.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { names, WebProxy } from "../support/web-proxy.ts";

// The proxies' configurations of docs/operating.md, as they are there, before a real server.

/** Where the client comes from: another address than the proxy's, which the server sees. */
const localAddress = "127.0.0.9";
/** All names are this machine, and the certificate is self-signed. */
const here = { host: "127.0.0.1", rejectUnauthorized: false, localAddress };

describe.each(["nginx", "caddyfile"] as const)("behind %s", (kind) => {
  let service: ScriptedService;
  let proxy: WebProxy;
  let program: Program;
  let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
  let authorization: string;

  beforeAll(async () => {
    folder = await mkdtempDisposable(`${folderPrefix}proxy-`);
    const port = await freePort();
    service = await ScriptedService.start({
      publicUrl: `https://${names.service}:${port}`,
      previewDomain: names.pages,
      trustedProxies: ["127.0.0.1"],
    });
    const backend = Number(new URL(service.server.url).port);
    proxy = await WebProxy.start(kind, folder.path, { port, backend });
    program = await Program.start();
    authorization = `Bearer ${service.client.key}`;
    await service.client.createAgent("ada");
  });
  afterAll(async () => {
    program[Symbol.dispose]();
    await proxy[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  interface Asked {
    method?: string;
    headers?: Record<string, string>;
    body?: Buffer | string;
    name?: string;
  }

  /** Asks through the proxy. */
  async function begin(path: string, { method = "GET", headers = {}, body, name = names.service }: Asked = {}) {
    const host = `${name}:${proxy.port}`;
    const sent = request({
      ...here,
      servername: name,
      port: proxy.port,
      method,
      path,
      headers: { host, authorization, ...headers },
    });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return response;
  }
  async function ask(path: string, asked: Asked = {}) {
    const response = await begin(path, asked);
    return { status: response.statusCode!, headers: response.headers, body: await buffer(response) };
  }
  const json = { "content-type": "application/json" };

  test("an event comes when it happens, not when the stream ends", async () => {
    const message = JSON.stringify({ message: "tool hang", include: ["tools"] });
    const stream = await begin("/agents/ada/chat", { method: "POST", headers: json, body: message });
    expect(stream.statusCode).toBe(200);
    const pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    let text = "";
    while (!text.includes("response.tool_call.started")) text += String((await pieces.next()).value);
    // It would hang for ever: that it is over is the end of the stream.
    const turn = stream.headers["x-turn-id"];
    expect((await ask(`/agents/ada/turns/${turn}/cancel`, { method: "POST" })).status).toBe(202);
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) text += String(next.value);
    expect(text).toContain("response.cancelled");
  });

  test("a WebSocket carries bytes both ways", async () => {
    const echo = createTcpServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
    await once(echo, "listening");
    const { port } = echo.address() as AddressInfo;
    const socket = new WebSocket(`wss://${names.service}:${proxy.port}/agents/ada/ports/${port}/connection`, {
      headers: { authorization },
      rejectUnauthorized: false,
      lookup: (_, { all }, done) =>
        all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4),
    });
    await once(socket, "open");
    socket.send(Buffer.from("over and back"));
    let text = "";
    while (!text.includes("over and back")) text += String(((await once(socket, "message")) as [Buffer])[0]);
    socket.terminate();
    echo.close();
  });

  test("a page of an agent has its host", async () => {
    const ticket = await ask("/agents/ada/tickets", {
      method: "POST",
      headers: json,
      body: JSON.stringify({ for: "preview", port: program.port }),
    });
    const { url } = JSON.parse(String(ticket.body));
    const { hostname, port, pathname, search } = new URL(url);
    expect(hostname).toMatch(new RegExp(`^${program.port}--ada--[0-9a-f]{12}\\.${names.pages}$`));
    expect(Number(port)).toBe(proxy.port);
    const entered = await ask(pathname + search, { name: hostname, headers: { authorization: "" } });
    expect(entered.status).toBe(303);
    const cookie = entered.headers["set-cookie"]![0]!.split(";")[0]!;
    const page = await ask("/deep", { name: hostname, headers: { authorization: "", cookie } });
    expect([page.status, String(page.body)]).toEqual([200, "page /deep"]);
    expect(program.asked.at(-1)!.headers).toMatchObject({
      "x-forwarded-host": `${hostname}:${proxy.port}`,
      "x-forwarded-proto": "https",
    });
  });

  test("the client's address is the client's, whatever it says", async () => {
    const made = await ask("/keys", {
      method: "POST",
      headers: { ...json, "x-forwarded-for": "203.0.113.7" },
      body: "{}",
    });
    expect(made.status).toBe(201);
    const { body } = await service.client.call("GET", "/audit?limit=1");
    expect(body.data[0]).toMatchObject({ operation: "POST /keys", address: localAddress });
  });

  test("a large file goes through, and comes back", async () => {
    const bytes = Buffer.alloc(5_000_000, "berth ");
    const put = await ask("/agents/ada/files/large.bin", {
      method: "PUT",
      headers: { "content-type": "application/octet-stream" },
      body: bytes,
    });
    expect(put.status).toBe(201);
    expect((await ask("/agents/ada/files/large.bin")).body.equals(bytes)).toBe(true);
  });

  test("measurements are not the public's", async () => {
    expect((await ask("/metrics")).status).toBe(403);
    expect((await ask("/healthz")).status).toBe(200);
    expect((await service.client.call("GET", "/metrics")).status).toBe(200);
  });

  test("the service tells its address as clients know it", async () => {
    const { body } = await ask("/.well-known/oauth-protected-resource");
    expect(JSON.parse(String(body)).resource).toContain(`https://${names.service}:${proxy.port}`);
  });
});
