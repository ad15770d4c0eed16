import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { Berth } from "@berth/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { newAccount } from "../support/accounts.ts";
import { Program } from "../support/http-program.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// An agent's pages in a browser. The programs in the machine are real HTTP servers of this test.

let service: ScriptedService;
let berth: Berth;
/** A program in the machine, and what it was asked. */
let program: Program;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  berth = new Berth({ url: service.client.url, key: service.client.key });
  program = await Program.start();
});
afterAll(async () => {
  program[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

interface Asked {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: Buffer | string;
}

/** Asks as a client that can say anything, for a URL whose host resolves to this machine. */
async function ask(url: string, { method = "GET", headers = {}, body }: Asked = {}) {
  const { host, pathname, search } = new URL(url);
  const port = new URL(service.client.url).port;
  const sent = httpRequest({ port, method, path: pathname + search, headers: { host, ...headers } });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode!, headers: response.headers, body: await buffer(response) };
}

/** Comes in with a ticket, and returns the address of the pages and the cookie. */
async function enter(port: number, agent = "ada", client = berth): Promise<{ origin: string; cookie: string }> {
  const url = await client.agent(agent).ports.preview(port);
  const { status, headers } = await ask(url);
  expect([status, headers.location]).toEqual([303, "/"]);
  return { origin: new URL(url).origin, cookie: cookieIn(headers) };
}

function cookieIn(headers: IncomingHttpHeaders): string {
  return headers["set-cookie"]![0]!.split(";")[0]!;
}

test("a ticket opens a port's pages once, and becomes a cookie of that host alone", async () => {
  const url = await berth.agent("ada").ports.preview(program.port, { path: "/deep?x=%20y" });
  expect(new URL(url).hostname).toMatch(new RegExp(`^${program.port}--ada--[0-9a-f]{12}\\.localhost$`));
  const { status, headers } = await ask(url);
  expect([status, headers.location]).toEqual([303, "/deep?x=%20y"]);
  expect(headers["set-cookie"]).toEqual([
    expect.stringMatching(/^berth-preview=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/),
  ]);
  const { origin } = new URL(url);
  const page = await ask(`${origin}/deep?x=%20y`, { headers: { cookie: cookieIn(headers) } });
  expect([page.status, String(page.body)]).toEqual([200, "page /deep?x=%20y"]);
  expect((await ask(url)).status).toBe(401);
});

test("a ticket is for one port, and leads nowhere else", async () => {
  const url = new URL(await berth.agent("ada").ports.preview(program.port));
  url.host = url.host.replace(/^\d+/, "1");
  expect((await ask(url.href)).status).toBe(401);
  const leadingOut = ["//evil.example/", "https://evil.example/", "/\\evil.example", "/\t/evil.example"];
  leadingOut.push("/.//evil.example/x", "/a/..//evil.example/", "/\t/preview//evil.example", "//", "http://:x");
  for (const to of leadingOut) {
    const again = new URL(await berth.agent("ada").ports.preview(program.port));
    again.searchParams.set("to", to);
    const { location } = (await ask(again.href)).headers;
    expect(new URL(location!, "http://here").host).toBe("here");
  }
});

test("without a cookie there is nothing to see", async () => {
  const { origin } = await enter(program.port);
  const page = await ask(`${origin}/`, { headers: { accept: "text/html" } });
  expect([page.status, String(page.body)]).toEqual([401, expect.stringContaining(`berth open AGENT ${program.port}`)]);
  const other = await ask(`${origin}/`, { headers: { cookie: "berth-preview=AAAA" } });
  expect([other.status, JSON.parse(String(other.body)).error.code]).toEqual([401, "sign_in_required"]);
});

test("a cookie is for one port of one agent", async () => {
  const { origin, cookie } = await enter(program.port);
  await service.client.createAgent("bea");
  for (const url of [origin.replace("--ada--", "--bea--"), origin.replace(/\/\d+--/, "//1--".slice(1))]) {
    expect((await ask(`${url}/`, { headers: { cookie } })).status).toBe(401);
  }
});

test("hosts of previews never reach the API, however they are written", async () => {
  const { origin, cookie } = await enter(program.port);
  const { host, port } = new URL(origin);
  const key = `Bearer ${service.client.key}`;
  for (const written of [host, host.toUpperCase(), host.replace(".localhost", ".localhost."), host.split(":")[0]!]) {
    const page = await ask(`${origin}/agents`, { headers: { host: written, cookie, authorization: key } });
    expect([written, page.status, String(page.body)]).toEqual([written, 200, "page /agents"]);
  }
  const nobodies: [string, number, string][] = [
    // As for an agent that there is.
    ["1--nobody--000000000000.localhost", 401, "sign_in_required"],
    ["x--y.localhost", 404, "preview_not_found"],
    ["--.localhost", 404, "preview_not_found"],
    ["99999--ada--0.localhost", 404, "preview_not_found"],
  ];
  for (const [nobody, ...expected] of nobodies) {
    const answer = await ask(`http://${nobody}:${port}/agents`, { headers: { authorization: key } });
    expect([nobody, answer.status, JSON.parse(String(answer.body)).error.code]).toEqual([nobody, ...expected]);
  }
  const stranger = await newAccount(service);
  expect((await stranger.call("GET", "/agents/ada/ports")).status).toBe(404);
});

test("a request with two hosts, or none in its place, is refused", async () => {
  const { origin, cookie } = await enter(program.port);
  const { host, port } = new URL(origin);
  const raw = async (lines: string[]) => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`${lines.join("\r\n")}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`);
    return Number((await text(socket)).split(" ")[1]);
  };
  expect(await raw(["GET / HTTP/1.1", `Host: ${host}`])).toBe(200);
  expect(await raw(["GET / HTTP/1.1", `Host: ${host}`, "Host: 127.0.0.1"])).toBe(400);
  expect(await raw([`GET http://127.0.0.1/agents HTTP/1.1`, `Host: ${host}`])).toBe(400);
  expect(await raw(["GET / HTTP/1.1", `Host: ${host}`, "Content-Length: 5", "Transfer-Encoding: chunked"])).toBe(400);
});

test("the program gets no cookie of ours, and nothing that a client claims of its way here", async () => {
  const { origin, cookie } = await enter(program.port);
  await ask(`${origin}/h`, {
    headers: {
      cookie: `a=1; ${cookie}; b=2`,
      "x-forwarded-host": "evil",
      "x-forwarded-for": "1.2.3.4",
      forwarded: "for=1",
      connection: "x-hop",
      "x-hop": "1",
      "x-own": "2",
      te: "trailers",
    },
  });
  const { headers } = program.asked.at(-1)!;
  const { host } = new URL(origin);
  expect(headers).toEqual({
    host,
    cookie: "a=1; b=2",
    "x-own": "2",
    "x-forwarded-host": host,
    "x-forwarded-proto": "http",
    connection: "close",
  });
});

test("a page sets its own cookies for its own host, and lets no other origin in", async () => {
  const { origin, cookie } = await enter(program.port);
  program.answer = (_, response) => {
    response.writeHead(200, {
      "set-cookie": ["a=1; Domain=localhost; Path=/", "berth-preview=stolen", "__Host-berth-preview=x", "b=2; domain"],
      "access-control-allow-origin": "*",
      "access-control-allow-credentials": "true",
      "strict-transport-security": "max-age=1000",
      "alt-svc": 'h3=":1"',
      "cross-origin-resource-policy": "cross-origin",
      "clear-site-data": '"cookies"',
      "reporting-endpoints": 'all="https://evil.example"',
    });
    response.end();
  };
  const { headers } = await ask(`${origin}/`, { headers: { cookie } });
  const { date, ...others } = headers;
  expect(others).toEqual({
    "set-cookie": ["a=1; Path=/", "b=2"],
    "content-security-policy": expect.stringMatching(/^frame-ancestors 'self' http:\/\/[\w.]+:\d+$/),
    "cross-origin-resource-policy": "same-origin",
    "origin-agent-cluster": "?1",
    connection: "keep-alive",
    "keep-alive": expect.any(String),
    "transfer-encoding": "chunked",
  });
  expect(date).toBeDefined();
  program.answer = (request, response) => response.end(`page ${request.url}`);
});

test("cross-origin requests are refused, except followed links", async () => {
  const { origin, cookie } = await enter(program.port);
  const fetched = { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "empty" };
  const navigated = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  const cases: [number, string, Record<string, string>][] = [
    [403, "GET", { "sec-fetch-site": "cross-site", ...fetched }],
    [403, "GET", { "sec-fetch-site": "same-site", ...fetched }],
    [403, "POST", { "sec-fetch-site": "cross-site", ...navigated }],
    [403, "GET", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }],
    [403, "GET", { origin: "http://evil.example" }],
    [403, "GET", { origin: "null" }],
    [200, "GET", { "sec-fetch-site": "cross-site", ...navigated }],
    [200, "GET", { "sec-fetch-site": "same-origin", ...fetched }],
    [200, "GET", { "sec-fetch-site": "none", ...navigated }],
    [200, "POST", { "sec-fetch-site": "same-origin", origin, ...fetched }],
  ];
  for (const [status, method, headers] of cases) {
    const answer = await ask(`${origin}/`, { method, headers: { cookie, ...headers } });
    expect([headers, answer.status]).toEqual([headers, status]);
  }
});

describe("in a frame", () => {
  const framed = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" };

  test("a ticket becomes a cookie of frames below one site", async () => {
    const url = await berth.agent("ada").ports.preview(program.port);
    const { status, headers } = await ask(url, { headers: framed });
    expect(status).toBe(303);
    const attributes = "Path=/; HttpOnly; Secure; SameSite=None; Partitioned; Max-Age=43200";
    expect(headers["set-cookie"]).toEqual([
      expect.stringMatching(new RegExp(`^berth-preview-frame=[\\w-]+; ${attributes}$`)),
    ]);
    const { origin } = new URL(url);
    const cookie = cookieIn(headers);
    const { href: referer } = new URL("/", service.server.url);
    const cases: [number, string, Record<string, string>][] = [
      [200, "GET", { ...framed, referer }],
      [403, "GET", framed],
      [403, "GET", { ...framed, referer: `${origin}/` }],
      [200, "GET", { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }],
      [403, "POST", { ...framed, referer }],
      [403, "GET", { ...framed, referer, "sec-fetch-dest": "object" }],
      [403, "GET", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }],
      [403, "GET", { "sec-fetch-site": "same-site", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }],
    ];
    for (const [expected, method, given] of cases) {
      const answer = await ask(`${origin}/`, { method, headers: { cookie, ...given } });
      expect([given, answer.status]).toEqual([given, expected]);
    }
    const invalid = await ask(`${origin}/`, { headers: { cookie: "berth-preview-frame=AAAA", ...framed, referer } });
    expect(invalid.status).toBe(401);
  });

  test("the cookie never reaches the program, and no page may set it", async () => {
    const url = await berth.agent("ada").ports.preview(program.port);
    const cookie = cookieIn((await ask(url, { headers: framed })).headers);
    let seen: string | undefined;
    program.answer = (request, response) => {
      seen = request.headers.cookie;
      response.setHeader("set-cookie", ["berth-preview-frame=x", "__Host-berth-preview-frame=x; Secure", "a=1"]);
      response.end();
    };
    const { headers } = await ask(new URL("/", url).href, {
      headers: { cookie: `${cookie}; b=2`, ...framed, referer: new URL("/", service.server.url).href },
    });
    program.answer = (request, response) => response.end(`page ${request.url}`);
    expect(seen).toBe("b=2");
    expect(headers["set-cookie"]).toEqual(["a=1"]);
  });
});

test("bodies stream both ways, whole and as they come", { timeout: 60_000 }, async () => {
  const { origin, cookie } = await enter(program.port);
  program.answer = (request, response) => void request.pipe(response);
  const sent = randomBytes(20_000_000);
  const { body } = await ask(`${origin}/echo`, { method: "POST", headers: { cookie }, body: sent });
  expect(createHash("sha256").update(body).digest("hex")).toBe(createHash("sha256").update(sent).digest("hex"));

  const { port } = new URL(service.client.url);
  const { host } = new URL(origin);
  const open = httpRequest({ port, method: "POST", path: "/", headers: { host, cookie } });
  open.write("first");
  const [response] = (await once(open, "response")) as [IncomingMessage];
  expect(String((await once(response, "data"))[0])).toBe("first");
  open.end("second");
  expect(String((await once(response, "data"))[0])).toBe("second");
  program.answer = (request, response) => response.end(`page ${request.url}`);
});

test("HEAD, no content, redirects, many equal headers and a program's own errors pass as they are", async () => {
  const { origin, cookie } = await enter(program.port);
  program.answer = (request, response) => {
    const status = Number(request.url!.slice(1));
    response.writeHead(status, status === 302 ? { location: "/x", link: ["<a>", "<b>"] } : { "content-length": "0" });
    response.end();
  };
  for (const status of [200, 204, 304, 404, 500]) {
    const method = status === 200 ? "HEAD" : "GET";
    expect((await ask(`${origin}/${status}`, { method, headers: { cookie } })).status).toBe(status);
  }
  const { headers } = await ask(`${origin}/302`, { headers: { cookie } });
  expect([headers.location, headers.link]).toEqual(["/x", "<a>, <b>"]);
  program.answer = (_, response) => response.destroy();
  expect((await ask(`${origin}/`, { headers: { cookie } })).status).toBe(502);
  program.answer = (_, response) => response.socket!.end("nonsense\r\n\r\n");
  expect((await ask(`${origin}/`, { headers: { cookie } })).status).toBe(502);
  program.answer = (request, response) => response.end(`page ${request.url}`);
});

test("WebSockets pass through, from the page's own origin", async () => {
  const { origin, cookie } = await enter(program.port);
  const sockets = new WebSocketServer({ server: program.server });
  sockets.on("connection", (socket) =>
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  const { port } = new URL(service.client.url);
  const open = (headers: Record<string, string>) => {
    const { host } = new URL(origin);
    return new WebSocket(`ws://127.0.0.1:${port}/socket`, { headers: { host, ...headers } });
  };
  const socket = open({ cookie, origin });
  await once(socket, "open");
  const large = randomBytes(1_000_000);
  socket.send(large);
  expect(large.equals((await once(socket, "message"))[0] as Buffer)).toBe(true);
  socket.close();
  const refused = [open({ origin }), open({ cookie, origin: "http://evil.example" })];
  const statuses = refused.map(async (each) => {
    const [, response] = await once(each, "unexpected-response");
    each.on("error", () => {}).terminate();
    return response.statusCode;
  });
  expect(await Promise.all(statuses)).toEqual([401, 403]);
  sockets.close();
});

test("nothing listens: a page that asks again, until something does", async () => {
  const later = await Program.start();
  const { port } = later;
  later[Symbol.dispose]();
  const { origin, cookie } = await enter(port);
  const page = await ask(`${origin}/`, { headers: { cookie, accept: "text/html,*/*" } });
  expect([page.status, String(page.body)]).toEqual([502, expect.stringContaining('http-equiv="refresh" content="2"')]);
  expect(String(page.body)).toContain(`Nothing listens on port ${port} yet`);
  const data = await ask(`${origin}/`, { headers: { cookie } });
  expect(JSON.parse(String(data.body)).error.code).toBe("port_not_listening");
});

test("a request wakes a sleeping agent", async () => {
  const { origin, cookie } = await enter(program.port, "bea");
  await service.client.call("POST", "/agents/bea/suspend");
  await expect.poll(async () => (await service.client.call("GET", "/agents/bea")).body.status).toBe("suspended");
  expect((await ask(`${origin}/`, { headers: { cookie } })).status).toBe(200);
});

test("a session outlives a server, and ends with its key", async () => {
  const { body: made } = await service.client.call("POST", "/keys", { name: "visitor" });
  const client = new Berth({ url: service.client.url, key: made.key });
  const { origin, cookie } = await enter(program.port, "ada", client);
  await service.restart();
  berth = new Berth({ url: service.client.url, key: service.client.key });
  expect((await ask(`${origin}/`, { headers: { cookie } })).status).toBe(200);
  await service.client.call("DELETE", `/keys/${made.id}`);
  expect((await ask(`${origin}/`, { headers: { cookie } })).status).toBe(401);
});

test("a share is a link to one port for anybody, until it ends", async () => {
  const { ports } = berth.agent("ada");
  const share = await ports.share(program.port);
  const entered = await ask(share.url);
  expect([entered.status, entered.headers.location]).toEqual([303, "/"]);
  const cookie = cookieIn(entered.headers);
  const { origin } = new URL(share.url);
  expect((await ask(`${origin}/`, { headers: { cookie } })).status).toBe(200);
  expect((await ask(`${origin.replace(/\/\d+--/, "/1--")}/`, { headers: { cookie } })).status).toBe(401);
  expect((await ask(share.url.replace(/\/\/\d+--/, "//1--"))).status).toBe(410);
  expect(await ports.shares()).toEqual([
    { id: share.id, port: program.port, createdBy: share.createdBy, createdAt: share.createdAt, expiresAt: null },
  ]);

  // A request that is under way is cut off, too.
  program.answer = (_, response) => void response.write("begun");
  const { port } = new URL(service.client.url);
  const open = httpRequest({ port, path: "/", headers: { host: new URL(origin).host, cookie } }).end();
  const [response] = (await once(open, "response")) as [IncomingMessage];
  const broken = buffer(response).catch(() => "cut off");
  await ports.removeShare(share.id);
  expect((await ask(`${origin}/`, { headers: { cookie } })).status).toBe(410);
  expect((await ask(share.url)).status).toBe(410);
  expect(await broken).toBe("cut off");
  await expect(ports.removeShare(share.id)).rejects.toThrow(/no share/);
  program.answer = (request, response) => response.end(`page ${request.url}`);
});

test("a share ends at its time, which is in the future", async () => {
  const { ports } = berth.agent("ada");
  const share = await ports.share(program.port, { expiresAt: new Date(Date.now() + 2_000).toISOString() });
  const cookie = cookieIn((await ask(share.url)).headers);
  const { origin } = new URL(share.url);
  await expect.poll(async () => (await ask(`${origin}/`, { headers: { cookie } })).status).toBe(410);
  expect((await ask(share.url)).status).toBe(410);
  await expect(ports.share(80, { expiresAt: "2020-01-01T00:00:00Z" })).rejects.toThrow(/passed/);
  const wrong = await service.client.call("POST", "/agents/ada/ports/80/share", { public: false });
  expect(wrong.status).toBe(400);
});

test("an agent that is gone has no pages", async () => {
  await service.client.createAgent("gone");
  const { origin, cookie } = await enter(program.port, "gone");
  await service.client.call("DELETE", "/agents/gone");
  expect((await ask(`${origin}/`, { headers: { cookie } })).status).toBe(401);
});
