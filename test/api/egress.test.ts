import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EgressLogEntry } from "../../src/contract/egress.ts";
import { freePort } from "../../src/core/ports.ts";
import { cleanUp } from "../../src/upkeep/clean-up-store.ts";
import { databaseOf, newAccount } from "../support/accounts.ts";
import { CertificateFolder, httpsOf } from "../support/certificates.ts";
import { folderPrefix } from "../support/config.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The web as programs in a machine reach it: the real proxy and uplink of the guest, the real server.

let service: ScriptedService;
/** A web server on this host, which the operator has opened. */
let web: HttpServer;
/** One that is not opened. */
let secret: HttpServer;
/** Repeats what it is sent, and opened. */
let echo: Server;
let proxy: string;
const portOf = (server: Server | HttpServer) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  web = createHttpServer(async (incoming, response) => {
    const body = await text(incoming);
    if (incoming.url === "/redirect")
      return response.writeHead(302, { location: `http://127.0.0.1:${portOf(secret)}/` }).end();
    response.writeHead(200, {
      "content-type": "text/plain",
      "set-cookie": ["a=1", "b=2"],
      connection: "x-hop, close",
      "x-hop": "1",
    });
    response.end(`${incoming.method} ${incoming.url} ${JSON.stringify(incoming.headers)} ${body}`);
  }).listen(0, "127.0.0.1");
  secret = createHttpServer((_, response) => response.end("the secret")).listen(0, "127.0.0.1");
  echo = createServer({ allowHalfOpen: true }, (socket) => socket.on("error", () => {}).pipe(socket)).listen(
    0,
    "127.0.0.1",
  );
  await Promise.all([web, secret, echo].map((server) => once(server, "listening")));
  service = await ScriptedService.start({
    egressInside: [`localhost:${portOf(web)}`, `127.0.0.1:${portOf(web)}`, `127.0.0.1:${portOf(echo)}`],
  });
  await service.client.createAgent("ada");
  proxy = service.driver.proxyOf(service.driver.running[0]!);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  for (const server of [web, secret]) server.close().closeAllConnections();
  echo.close();
});

/** The proxy's answer to a CONNECT: its socket if it is 200, otherwise its text. */
async function connect(
  authority: string,
  by = proxy,
): Promise<{ response: IncomingMessage; socket: Socket; body: string }> {
  const asked = request(by, { method: "CONNECT", path: authority }).end();
  const [response, socket, head] = (await once(asked, "connect")) as [IncomingMessage, Socket, Buffer];
  if (response.statusCode === 200) return { response, socket, body: "" };
  let body = head.toString();
  for await (const chunk of socket) body += chunk;
  return { response, socket, body };
}

/** The proxy's answer to a request to an `http://` address. */
async function ask(url: string, options: { method?: string; body?: string; headers?: Record<string, string> } = {}) {
  const { method = "GET", body, headers = {} } = options;
  const asked = request(proxy, { method, path: url, headers: { host: new URL(url).host, ...headers } });
  asked.end(body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** The newest entries of the agent's log, once there are so many. */
async function logged(count: number, query = ""): Promise<EgressLogEntry[]> {
  for (;;) {
    const { status, body } = await service.client.call("GET", `/agents/ada/network/log?limit=100${query}`);
    expect(status).toBe(200);
    if (body.data.length >= count) return body.data;
    await sleep(50);
  }
}

test("a tunnel carries bytes both ways, to the end of each, and is written down", async () => {
  const { response, socket } = await connect(`127.0.0.1:${portOf(echo)}`);
  expect(response.statusCode).toBe(200);
  const sent = Buffer.alloc(5_000_000, "abc");
  socket.end(sent);
  const received: Buffer[] = [];
  for await (const chunk of socket) received.push(chunk);
  expect(Buffer.concat(received).equals(sent)).toBe(true);
  const [entry] = await logged(1);
  expect(entry).toMatchObject({
    verdict: "allowed",
    reason: null,
    outcome: "closed",
    host: "127.0.0.1",
    port: portOf(echo),
    address: "127.0.0.1",
    bytesSent: sent.length,
    bytesReceived: sent.length,
    count: 1,
  });
});

test("a request to an http address is made on a tunnel, with its headers and its body", async () => {
  const url = `http://localhost:${portOf(web)}/path?a=b`;
  const headers = { "x-own": "1", connection: "x-dropped", "x-dropped": "1", "proxy-authorization": "Basic x" };
  const { status, headers: answered, body } = await ask(url, { method: "PUT", body: "the body", headers });
  expect(status).toBe(200);
  expect(body).toMatch(/^PUT \/path\?a=b .* the body$/);
  expect(body).toContain('"x-own":"1"');
  expect(body).toContain(`"host":"localhost:${portOf(web)}"`);
  expect(body).not.toMatch(/x-dropped|proxy-authorization/);
  expect(answered["set-cookie"]).toEqual(["a=1", "b=2"]);
  expect(answered["x-hop"]).toBeUndefined();
  expect((await logged(2))[0]).toMatchObject({ host: "localhost", outcome: "closed" });
});

test("internal addresses are refused with the reason, also by redirect", async () => {
  const { response, body } = await connect(`127.0.0.1:${portOf(secret)}`);
  expect(response.statusCode).toBe(403);
  expect(response.headers["x-berth-verdict"]).toBe("inside");
  expect(body).toMatch(/^Berth refused the connection to 127\.0\.0\.1:\d+: it is not on the internet/);
  const redirect = await ask(`http://127.0.0.1:${portOf(web)}/redirect`);
  expect(redirect.status).toBe(302);
  const followed = await ask(redirect.headers.location!);
  expect(followed).toMatchObject({ status: 403, headers: { "x-berth-verdict": "inside" } });
});

test("an invalid destination is refused with the valid form", async () => {
  for (const authority of ["example.com", "127.1:80", "[::1%lo]:80", "a@example.com:443"]) {
    const { response } = await connect(authority);
    expect([authority, response.statusCode]).toEqual([authority, 400]);
    expect(response.headers["x-berth-verdict"]).toBe("destination_invalid");
  }
  const asked = request(proxy, { path: "/not-a-proxy" }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  expect(response.statusCode).toBe(400);
  expect(await text(response)).toMatch(/^This is a proxy/);
  expect(await ask("https://example.com/")).toMatchObject({
    status: 400,
    headers: { "x-berth-verdict": "request_invalid" },
  });
});

test("an allowed but unreachable server is 502 with the reason", async () => {
  const gone = createServer().listen(0, "127.0.0.1");
  await once(gone, "listening");
  const port = portOf(gone);
  gone.close();
  await using other = await ScriptedService.start({ egressInside: [`127.0.0.1:${port}`, "nobody.invalid:80"] });
  await other.client.createAgent("bob");
  const by = other.driver.proxyOf(other.driver.running[0]!);
  const unreachable = await connect(`127.0.0.1:${port}`, by);
  expect(unreachable.response).toMatchObject({ statusCode: 502, headers: { "x-berth-verdict": "unreachable" } });
  const unresolved = await connect("nobody.invalid:80", by);
  expect(unresolved.response).toMatchObject({ statusCode: 502, headers: { "x-berth-verdict": "unresolved" } });
  expect(unresolved.body).toBe("nobody.invalid has no address.\n");
});

test("an agent does not reach the service's HTTPS, whatever the operator allows", async () => {
  await using folder = await mkdtempDisposable(folderPrefix);
  const files = new CertificateFolder(folder.path);
  await files.write("berth.example.com");
  const port = await freePort();
  await using other = await ScriptedService.start({
    publicUrl: `https://berth.example.com:${port}`,
    https: { ...httpsOf(files), host: null, port },
    egressInside: [`127.0.0.1:${port}`],
  });
  await other.client.createAgent("bob");
  const by = other.driver.proxyOf(other.driver.running[0]!);
  const { response } = await connect(`127.0.0.1:${port}`, by);
  expect(response).toMatchObject({ statusCode: 403, headers: { "x-berth-verdict": "inside" } });
});

test("an agent's lists are read, set in their normal spelling, and hold from the next connection on", async () => {
  const operator = { allow: ["*"], deny: [] };
  const read = () => service.client.call("GET", "/agents/ada/network");
  const set = (allow: string[], deny: string[]) => service.client.call("PUT", "/agents/ada/network", { allow, deny });
  expect((await read()).body).toEqual({ allow: ["*"], deny: [], ask: false, createdBy: null, operator });
  const lists = { allow: ["*.example.com:443", `127.0.0.1:${portOf(web)}`], deny: ["bad.example.com", "[2001:db8::]"] };
  const { status, body } = await set(
    ["*.EXAMPLE.com.:443", lists.allow[1]!, lists.allow[1]!],
    ["bad.example.com", "2001:DB8::0"],
  );
  expect({ status, body }).toEqual({
    status: 200,
    body: { ...lists, ask: false, createdBy: body.createdBy, operator },
  });
  expect((await read()).body).toEqual(body);
  const { response, body: refused } = await connect(`127.0.0.1:${portOf(echo)}`);
  expect(response).toMatchObject({ statusCode: 403, headers: { "x-berth-verdict": "not_allowed" } });
  expect(refused).toContain("the agent's own rules do not allow it");
  expect((await ask(`http://127.0.0.1:${portOf(web)}/`)).status).toBe(200);
  expect((await set(["*"], [`127.0.0.1:${portOf(web)}`])).status).toBe(200);
  expect(await ask(`http://127.0.0.1:${portOf(web)}/`)).toMatchObject({
    status: 403,
    headers: { "x-berth-verdict": "denied" },
  });
  expect((await set(["*"], [])).status).toBe(200);
});

test("a person is asked about a host on neither list, and allows it for the next try", async () => {
  const set = (lists: object) => service.client.call("PUT", "/agents/ada/network", lists);
  const at = `127.0.0.1:${portOf(web)}`;
  expect((await set({ allow: ["example.com"], deny: ["bad.example.com"], ask: true })).body.ask).toBe(true);
  const refused = await ask(`http://${at}/`);
  expect(refused).toMatchObject({ status: 403, headers: { "x-berth-verdict": "asked" } });
  expect(refused.body).toContain("A person is asked to allow it. Try again later.");
  const { response } = await connect("bad.example.com:443");
  expect(response.headers["x-berth-verdict"]).toBe("denied");
  const log = async () => (await service.client.call("GET", "/network/log?verdict=refused")).body.data;
  await expect.poll(async () => (await log())[1]).toMatchObject({ agent: "ada", reason: "asked", port: portOf(web) });
  // A request without `ask` does not change it.
  expect((await set({ allow: ["example.com", at], deny: [] })).body.ask).toBe(true);
  expect((await ask(`http://${at}/`)).status).toBe(200);
  const fork = { name: "asking-fork", from: { agent: "ada" } };
  await service.client.call("POST", "/agents", fork);
  expect((await service.client.call("GET", "/agents/asking-fork/network")).body).toMatchObject({ ask: true });
  expect((await set({ allow: ["*"], deny: [], ask: false })).body.ask).toBe(false);
});

test.each([
  [{}, /allow/],
  [{ allow: ["*"] }, /deny/],
  [{ allow: ["*"], deny: [], operator: {} }, /operator/],
  [{ allow: "*", deny: [] }, /allow/],
  [{ allow: [""], deny: [] }, /allow\.0/],
  [{ allow: ["http://example.com"], deny: [] }, /allow\.0: Not a valid rule\. A rule is a host \(example\.com\)/],
  [{ allow: ["*"], deny: ["example.com", "127.1"] }, /deny\.1: Not a valid rule/],
  [{ allow: ["*.*.com"], deny: [] }, /valid rule/],
  [{ allow: ["example.com:0"], deny: [] }, /valid rule/],
  [{ allow: ["10.0.0.0/33"], deny: [] }, /valid rule/],
  [{ allow: ["bücher.de"], deny: [] }, /valid rule.*ASCII/],
  [{ allow: Array(201).fill("example.com"), deny: [] }, /allow: A list is limited to 200 rules/],
])("%j is no network: 400 says why", async (lists, message) => {
  const { status, body } = await service.client.call("PUT", "/agents/ada/network", lists);
  expect({ status, code: body.code }).toEqual({ status: 400, code: "request_invalid" });
  expect(body.message).toMatch(message);
});

test("an open tunnel is cut when it is not allowed any more, and no other", async () => {
  const [kept, cut] = [await connect(`127.0.0.1:${portOf(echo)}`), await connect(`127.0.0.1:${portOf(web)}`)];
  const broken = new Promise((resolve) => cut.socket.once("close", resolve).on("error", () => {}));
  await service.client.call("PUT", "/agents/ada/network", { allow: ["*"], deny: [`127.0.0.1:${portOf(web)}`] });
  await broken;
  kept.socket.write("still there");
  expect(String((await once(kept.socket, "data"))[0])).toBe("still there");
  kept.socket.destroy();
  await service.client.call("PUT", "/agents/ada/network", { allow: ["*"], deny: [] });
  for (;;) {
    const entries = await logged(1, "&verdict=allowed");
    if (entries.some(({ outcome, port }) => outcome === "cut" && port === portOf(web))) break;
    await sleep(50);
  }
});

test("the log is read in pages, the newest first, of one verdict or of both", async () => {
  const all = await logged(5);
  expect(all.map(({ startedAt }) => startedAt)).toEqual(
    all
      .map(({ startedAt }) => startedAt)
      .sort()
      .reverse(),
  );
  const paged: EgressLogEntry[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const path = `/agents/ada/network/log?limit=2${cursor && `&cursor=${cursor}`}`;
    const { body } = await service.client.call("GET", path);
    paged.push(...body.data);
    cursor = body.nextCursor;
  }
  expect(paged).toEqual(all);
  const refused = await logged(1, "&verdict=refused");
  expect(refused).toEqual(all.filter(({ verdict }) => verdict === "refused"));
  for (const { reason, outcome, bytesSent } of refused)
    expect([reason !== null, outcome, bytesSent]).toEqual([true, null, 0]);
  expect((await service.client.call("GET", "/agents/ada/network/log?verdict=maybe")).status).toBe(400);
  expect((await service.client.call("GET", "/agents/ada/network/log?cursor=x")).status).toBe(400);
});

test("the account's log has those of all its agents, with their names, from a time on", async () => {
  const all = await logged(5);
  const { body } = await service.client.call("GET", "/network/log?limit=100");
  expect(body.data).toEqual(all.map((entry) => ({ ...entry, agent: "ada" })));
  const { data, nextCursor } = (await service.client.call("GET", "/network/log?limit=2&verdict=refused")).body;
  const refused = all.filter(({ verdict }) => verdict === "refused");
  expect(data).toMatchObject(refused.slice(0, 2));
  const next = `/network/log?limit=2&verdict=refused&cursor=${nextCursor}`;
  expect((await service.client.call("GET", next)).body.data).toMatchObject(refused.slice(2, 4));
  const since = await service.client.call("GET", `/network/log?since=${all[2]!.startedAt}`);
  expect(since.body.data).toMatchObject(all.filter(({ startedAt }) => startedAt >= all[2]!.startedAt));
  const stranger = await newAccount(service);
  await stranger.createAgent("ada");
  expect((await stranger.call("GET", "/network/log")).body).toEqual({ data: [], nextCursor: null });
  expect((await stranger.call("GET", "/network/log?since=now")).status).toBe(400);
});

test("an agent that asks without end is refused, and fills no log", async () => {
  await service.client.createAgent("eve");
  const id = service.driver.running.at(-1)!;
  const by = service.driver.proxyOf(id);
  const verdicts: Record<string, number> = {};
  for (let round = 0; round < 15; round++) {
    const answers = Array.from({ length: 100 }, (_, index) => connect(`h${round * 100 + index}.internal:443`, by));
    for (const { response } of await Promise.all(answers)) {
      const verdict = String(response.headers["x-berth-verdict"]);
      verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    }
  }
  expect(verdicts).toEqual({ inside: 1_200, too_many: 300 });
  const database = await databaseOf(service);
  const read = () => database.selectFrom("network_log").selectAll().where("agent_id", "=", id).execute();
  let entries = await read();
  for (; entries.reduce((sum, { count }) => sum + count, 0) < 1_500; entries = await read()) await sleep(50);
  await database.destroy();
  // Sixty, one for each second more, and one for each reason in each half of one.
  expect(entries.length).toBeLessThan(500);
  const together = entries.filter(({ host }) => host === "*");
  expect(together.length).toBeGreaterThan(0);
  expect(together.every(({ port }) => port === null)).toBe(true);
  expect((await service.client.call("DELETE", "/agents/eve")).status).toBe(204);
});

test("tunnels beyond the limit are refused; model calls still work", async () => {
  await service.client.createAgent("max");
  const by = service.driver.proxyOf(service.driver.running.at(-1)!);
  // Each is sent more than anybody reads: what waits must not be in the way of the others.
  const opened = await Promise.all(Array.from({ length: 256 }, () => connect(`127.0.0.1:${portOf(echo)}`, by)));
  for (const { socket } of opened) {
    socket.on("error", () => {});
    socket.pause();
    socket.write(Buffer.alloc(1_000_000));
  }
  expect((await connect(`127.0.0.1:${portOf(echo)}`, by)).response).toMatchObject({
    statusCode: 429,
    headers: { "x-berth-verdict": "too_many" },
  });
  expect(await service.client.ask("max", "ask")).toMatch(/^200 /);
  for (const { socket } of opened) socket.destroy();
  expect((await service.client.call("DELETE", "/agents/max")).status).toBe(204);
});

test("a machine that is suspended loses its tunnels, and has new ones when it wakes", async () => {
  const { socket } = await connect(`127.0.0.1:${portOf(echo)}`);
  const lost = new Promise((resolve) => socket.once("close", resolve).on("error", () => {}));
  expect((await service.client.call("POST", "/agents/ada/suspend")).body.status).toBe("suspended");
  await lost;
  expect((await service.client.call("POST", "/agents/ada/resume?wait=ready")).body.status).toBe("ready");
  expect((await ask(`http://127.0.0.1:${portOf(web)}/`)).status).toBe(200);
});

test("a server that is stopped writes down what it ends", async () => {
  const { socket } = await connect(`127.0.0.1:${portOf(echo)}`);
  const lost = new Promise((resolve) => socket.once("close", resolve).on("error", () => {}));
  socket.write("the last words");
  await once(socket, "data");
  await service.restart();
  await lost;
  const [entry] = await logged(1);
  expect(entry).toMatchObject({ outcome: "reset", bytesSent: 14, bytesReceived: 14 });
});

test("while the server is away a connection waits for it", async () => {
  let answer: ReturnType<typeof ask> | undefined;
  await service.restart(async () => {
    answer = ask(`http://127.0.0.1:${portOf(web)}/`);
    await sleep(100);
  });
  expect((await answer!).status).toBe(200);
});

test("an agent whose bytes are on their way is not idle", async () => {
  await using other = await ScriptedService.start({ egressInside: [`127.0.0.1:${portOf(echo)}`], idleMs: 1_000 });
  await other.client.createAgent("ida");
  const { socket } = await connect(`127.0.0.1:${portOf(echo)}`, other.driver.proxyOf(other.driver.running[0]!));
  socket.on("error", () => {}).on("data", () => {});
  const statuses = new Set<string>();
  for (let at = 0; at < 30; at++) {
    socket.write("more");
    await sleep(100);
    statuses.add((await other.client.call("GET", "/agents/ida")).body.status);
  }
  expect([...statuses]).toEqual(["ready"]);
  socket.destroy();
  for (let status = ""; status !== "suspended"; await sleep(50)) {
    status = (await other.client.call("GET", "/agents/ida")).body.status;
  }
});

test("old connections are removed, and those of an agent that is deleted", async () => {
  const database = await databaseOf(service);
  const own = async (id: string) =>
    (await database.selectFrom("network_log").select("host").where("agent_id", "=", id).execute()).map(
      ({ host }) => host,
    );
  await service.client.createAgent("old");
  const id = service.driver.running.at(-1)!;
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  const row = { agent_id: id, reason: null, outcome: "closed" as const, port: 1, address: null, count: 1 };
  const rows = [
    ["new", 0],
    ["still", 29],
    ["too-old", 31],
  ] as const;
  for (const [host, days] of rows) {
    const times = { started_at: ago(days), finished_at: ago(days) };
    const bytes = { bytes_sent: "0", bytes_received: "0" };
    await database
      .insertInto("network_log")
      .values({ ...row, ...times, ...bytes, id: randomUUID(), host })
      .execute();
  }
  await cleanUp(database, service.config, expect.unreachable);
  expect((await own(id)).sort()).toEqual(["new", "still"]);
  expect((await service.client.call("DELETE", "/agents/old")).status).toBe(204);
  expect(await own(id)).toEqual([]);
  await database.destroy();
});

test("the measurements count connections and bytes, and name nobody", async () => {
  const { body } = await service.client.call("GET", "/metrics");
  expect(body).toMatch(/berth_web_connections_total\{verdict="allowed",server="test"\} [1-9]/);
  expect(body).toMatch(/berth_web_bytes_total\{way="received",server="test"\} [1-9]/);
  expect(body).not.toContain("127.0.0.1");
});
