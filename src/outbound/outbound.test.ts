import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { NameServer } from "../../test/support/name-server.ts";
import { certify, makeAuthority, makeKeys } from "../egress/authority.ts";
import { resolveHere } from "../egress/names.ts";
import { Policy } from "../egress/policy.ts";
import { type CallFailed, Outbound } from "./outbound.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

const run = promisify(execFile);
const accountId = "one";

function outbound(inside: readonly string[] = [], deny: readonly string[] = []): Outbound {
  const made = new Outbound(
    new Policy({ operator: { allow: ["*"], deny }, inside, own: () => [], lookUp: resolveHere }),
  );
  closing.push(() => made.close());
  return made;
}

/** A TCP server of this host. */
async function listen(connected: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    connected(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

async function serve(answer: RequestListener): Promise<number> {
  const server = createHttpServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close().closeAllConnections());
  return (server.address() as AddressInfo).port;
}

/** Calls a port of this host, which the operator has listed. */
function call(port: number, body = "{}") {
  const url = `http://127.0.0.1:${port}/hook`;
  return outbound([`127.0.0.1:${port}`]).post({
    accountId,
    url,
    headers: { "content-type": "application/json" },
    body,
  });
}

const fault = (failed: Promise<unknown>) =>
  failed.then(
    () => "none",
    (error: CallFailed) => error.fault,
  );

test("posts the body and returns the status", async () => {
  const received: { request: IncomingMessage; body: string }[] = [];
  const port = await serve(async (request, response) => {
    received.push({ request, body: await text(request) });
    response.writeHead(503, { "retry-after": "7" }).end("later");
  });
  expect(await call(port, '{"a":"ü"}')).toEqual({ status: 503, retryAfter: "7" });
  expect(received.map(({ body, request }) => [request.method, request.url, body])).toEqual([
    ["POST", "/hook", '{"a":"ü"}'],
  ]);
  expect(received[0]!.request.headers).toMatchObject({ "content-length": "10", connection: "close" });
});

test.each([
  ["https://127.0.0.1/", "not on the public internet"],
  ["https://2130706433/", "not on the public internet"],
  ["https://0x7f.1/", "not on the public internet"],
  ["https://017700000001/", "not on the public internet"],
  ["https://[::1]/", "not on the public internet"],
  ["https://[::ffff:169.254.169.254]/", "not on the public internet"],
  ["https://[::ffff:8.8.8.8]/", "not on the public internet"],
  ["https://[64:ff9b::7f00:1]/", "not on the public internet"],
  ["https://[2002:7f00:1::]/", "not on the public internet"],
  ["https://[fe80::1]/", "not on the public internet"],
  ["https://169.254.169.254/latest", "not on the public internet"],
  ["https://100.100.100.200/", "not on the public internet"],
  ["https://10.1.2.3/", "not on the public internet"],
  ["https://localhost/", "not on the public internet"],
  ["https://metadata.google.internal/", "not on the public internet"],
  ["https://printer/", "not on the public internet"],
  ["https://example.com:25/", "port is not allowed"],
  ["https://denied.example/", "operator does not allow"],
  ["http://example.com/", "Only https"],
  ["ftp://example.com/", "An address is https"],
  ["https://user:secret@example.com/", "An address is https"],
  ["https://example.com/#part", "An address is https"],
  ["example.com", "An address is https"],
])("refuses to save %s", async (url, message) => {
  await expect(outbound([], ["denied.example"]).requireAllowed(url)).rejects.toThrow(message);
  await expect(outbound([], ["denied.example"]).post({ accountId, url, headers: {}, body: "" })).rejects.toMatchObject({
    fault: "refused",
  });
});

test("saves public hosts, and listed inner ones also with http", async () => {
  const calls = outbound(["inner.corp:8080", "10.1.2.3:443"]);
  for (const url of [
    "https://example.com/a?b=c",
    "https://8.8.8.8:8443/",
    "http://inner.corp:8080/",
    "https://10.1.2.3/",
  ])
    await calls.requireAllowed(url);
  await expect(calls.requireAllowed("http://inner.corp/")).rejects.toThrow("Only https");
  await expect(calls.requireAllowed("https://10.1.2.3:8443/")).rejects.toThrow("public internet");
});

test("refuses a name with one private address among public ones", async () => {
  using server = await NameServer.start();
  server.names["mixed.example"] = () => ["93.184.215.14", "10.0.0.1"];
  server.names["six.example"] = () => ["93.184.215.14", "fd00:0:0:0:0:0:0:1"];
  server.names["gone.example"] = () => [];
  const ask = (name: string) => fault(outbound().post({ accountId, url: `https://${name}/`, headers: {}, body: "" }));
  expect(await ask("mixed.example")).toBe("refused");
  expect(await ask("six.example")).toBe("refused");
  expect(await ask("gone.example")).toBe("unresolved");
  expect(await ask("unknown.example")).toBe("unresolved");
});

test("connects to the checked address although the name has another one by then", async () => {
  using server = await NameServer.start();
  let connections = 0;
  const port = await listen(() => connections++);
  let asked = 0;
  // Neither the first address nor its port answers from here.
  server.names["rebinding.example"] = () => (asked++ < 2 ? ["93.184.215.14"] : ["127.0.0.1"]);
  const calls = outbound();
  const url = `https://rebinding.example:${port}/`;
  const failed = fault(calls.post({ accountId, url, headers: {}, body: "" }));
  await expect.poll(() => server.asked.toSorted()).toEqual(["A rebinding.example", "AAAA rebinding.example"]);
  calls.close();
  expect(await failed).toMatch(/unreachable|timeout/);
  expect([connections, server.asked.length]).toEqual([0, 2]);
  // The next call sees the other address, and does not connect.
  expect(await fault(outbound().post({ accountId, url, headers: {}, body: "" }))).toBe("refused");
  expect(connections).toBe(0);
});

test("follows no redirect", async () => {
  let reached = 0;
  const secret = await serve((_, response) => {
    reached++;
    response.end();
  });
  for (const location of [`http://127.0.0.1:${secret}/`, "http://169.254.169.254/latest/meta-data"]) {
    const port = await serve((_, response) => response.writeHead(307, { location }).end());
    expect(await call(port)).toMatchObject({ status: 307 });
  }
  expect(reached).toBe(0);
});

test("stops reading an endless body", async () => {
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  const port = await serve((_, response) => {
    const chunk = Buffer.alloc(64 * 1024);
    const more = () => {
      while (response.write(chunk)) sent += chunk.length;
    };
    response.writeHead(200).on("drain", more).on("close", closed.resolve);
    more();
  });
  expect(await call(port)).toMatchObject({ status: 200 });
  await closed.promise;
  expect(sent).toBeLessThan(64 * 1024 ** 2);
});

test("rejects an oversized head, other protocols and closed connections", async () => {
  const huge = await listen((socket) => {
    const line = `x-filler: ${"a".repeat(1_000)}\r\n`;
    socket.write("HTTP/1.1 200 OK\r\n");
    for (let size = 0; size < 10 * 1024 ** 2; size += line.length) socket.write(line);
  });
  expect(await fault(call(huge))).toBe("answer_invalid");
  const other = await listen((socket) => socket.write("SSH-2.0-OpenSSH_9.9\r\n"));
  expect(await fault(call(other))).toBe("answer_invalid");
  const upgraded = await listen((socket) =>
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n"),
  );
  expect(await fault(call(upgraded))).toBe("answer_invalid");
  const closes = await listen((socket) => socket.end());
  expect(await fault(call(closes))).toBe("unreachable");
  const resets = await listen((socket) => socket.resetAndDestroy());
  expect(await fault(call(resets))).toBe("unreachable");
  const plain = await serve((_, response) => response.end());
  const url = `https://127.0.0.1:${plain}/`;
  expect(await fault(outbound([`127.0.0.1:${plain}`]).post({ accountId, url, headers: {}, body: "" }))).toBe(
    "unreachable",
  );
});

test("verifies the receiver's certificate and its name", async () => {
  const trusted = getCACertificates("default");
  const authority = await makeAuthority("test");
  const { certificate: cert, key } = await certify(authority, { kind: "name", text: "localhost" }, await makeKeys());
  const server = createHttpsServer({ cert, key }, (_, response) => response.writeHead(204).end());
  await once(server.listen(0, "127.0.0.1"), "listening");
  closing.push(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const calls = outbound([`localhost:${port}`, `127.0.0.1:${port}`]);
  const post = (host: string) => calls.post({ accountId, url: `https://${host}:${port}/`, headers: {}, body: "" });
  await expect(post("localhost")).rejects.toThrow("The TLS connection failed: UNABLE_TO_VERIFY_LEAF_SIGNATURE.");
  setDefaultCACertificates([...trusted, authority.certificate]);
  closing.push(() => setDefaultCACertificates(trusted));
  expect(await post("localhost")).toMatchObject({ status: 204 });
  await expect(post("127.0.0.1")).rejects.toThrow("The TLS connection failed: ERR_TLS_CERT_ALTNAME_INVALID.");
});

test("a call whose name is not resolved ends when the calls are closed", async () => {
  const calls = new Outbound(
    new Policy({ operator: { allow: ["*"], deny: [] }, inside: [], own: () => [], lookUp: resolveHere }),
    () => new Promise(() => {}),
  );
  const failed = fault(calls.post({ accountId, url: "https://silent.example/", headers: {}, body: "" }));
  calls.close();
  expect(await failed).toBe("unreachable");
});

test("gives up on a head that comes byte by byte", async () => {
  const timers: NodeJS.Timeout[] = [];
  const port = await listen((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nx: ");
    timers.push(setInterval(() => socket.write("a"), 100));
  });
  closing.push(() => timers.forEach(clearInterval));
  expect(await fault(call(port))).toBe("timeout");
});

test("a silent receiver holds only its workspace's calls", async () => {
  const port = await listen(() => {});
  const calls = outbound([`127.0.0.1:${port}`]);
  const post = (account: string) =>
    fault(calls.post({ accountId: account, url: `http://127.0.0.1:${port}/`, headers: {}, body: "" }));
  const held = Array.from({ length: 8 }, () => post("one"));
  expect([calls.free("one"), calls.free("two")]).toEqual([0, 8]);
  expect(await post("one")).toBe("timeout");
  for (let account = 2; account <= 8; account++) {
    for (let index = 0; index < 8; index++) held.push(post(String(account)));
  }
  expect(calls.free("nine")).toBe(0);
  calls.close();
  expect(new Set(await Promise.all(held))).toEqual(new Set(["unreachable"]));
  expect([calls.free("one"), calls.free("nine")]).toEqual([8, 8]);
});

test("uses no proxy of the environment", async () => {
  let proxied = 0;
  const proxy = await listen(() => proxied++);
  const port = await serve((_, response) => response.writeHead(204).end());
  const program = `
    const { Outbound } = await import(${JSON.stringify(import.meta.resolve("./outbound.ts"))});
    const { Policy } = await import(${JSON.stringify(import.meta.resolve("../egress/policy.ts"))});
    const policy = new Policy({ operator: { allow: ["*"], deny: [] }, inside: ["127.0.0.1:${port}"], own: () => [], lookUp: async () => [] });
    const { status } = await new Outbound(policy).post({ accountId: "one", url: "http://127.0.0.1:${port}/", headers: {}, body: "" });
    console.log(status);`;
  const variables = {
    NODE_USE_ENV_PROXY: "1",
    HTTP_PROXY: `http://127.0.0.1:${proxy}`,
    ALL_PROXY: `http://127.0.0.1:${proxy}`,
  };
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], {
    env: { ...process.env, ...variables, NO_PROXY: "" },
  });
  expect([stdout.trim(), proxied]).toEqual(["204", 0]);
});
