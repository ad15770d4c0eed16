import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { intercept } from "./interception.ts";

const secret = {
  placeholder: "berth-secret-T-1",
  hosts: ["api.example.com"],
  headers: ["x-token"],
  value: "the-value",
};
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A program's end of a connection without TLS to this server as `api.example.com`. */
async function connected(server: Server): Promise<Duplex> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const dialled = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true });
  dialled.on("error", () => {});
  await once(dialled, "connect");
  closing.push(() => dialled.destroy());
  closing.push(() => server.close());
  return intercept(dialled, {
    agentId: "ada",
    destination: { host: { kind: "name", text: "api.example.com" }, port: 80 },
    secrets: { tls: [], plain: [secret] },
    certificate: () => Promise.reject(new Error("without TLS")),
    warn: () => {},
  });
}

/** A host that answers every request with these bytes. */
function answering(bytes: string): Server {
  return createTcpServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(bytes));
  });
}

/** The bytes that the host received, and those that the program got back. */
async function exchange(request: string): Promise<{ heads: IncomingMessage[]; answer: string }> {
  const heads: IncomingMessage[] = [];
  const program = await connected(
    createServer((incoming, response) => {
      heads.push(incoming);
      incoming.resume();
      response.end("reached");
    }),
  );
  program.write(request);
  return { heads, answer: await text(program) };
}

const host = "Host: api.example.com\r\nConnection: close\r\nX-Token: berth-secret-T-1\r\n";

test.each([
  ["a request", `GET / HTTP/1.1\r\n${host}Trailer: x\r\n\r\n`],
  ["a body", `POST / HTTP/1.1\r\n${host}Content-Length: 2\r\nTrailer: x\r\n\r\nhi`],
])("%s with the announcement of a trailer passes without it", async (_, request) => {
  const { heads, answer } = await exchange(request);
  expect(heads.map(({ headers }) => headers)).toEqual([expect.objectContaining({ "x-token": "the-value" })]);
  expect(heads[0]!.headers).not.toHaveProperty("trailer");
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
});

test.each([
  ["HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n"],
  ["HTTP/1.1 200 O\u0001K\r\nContent-Length: 0\r\n\r\n"],
  ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTrailer: x\r\n\r\n"],
  ["HTTP/1.1 204 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n"],
  ["HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"],
])("a host that answers %j is a host that broke off", async (bytes) => {
  const program = await connected(answering(bytes));
  program.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  expect(await text(program)).toMatch(/^HTTP\/1.1 (502|200|204) /);
});

test.each([
  "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
  `HTTP/1.1 200 OK\r\nX: ${"a".repeat(40_000)}\r\nContent-Length: 2\r\n\r\nok`,
])("a careless answer of a host passes: %.60j", async (bytes) => {
  const program = await connected(answering(bytes));
  program.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  expect(await text(program)).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n\r\n2\r\nok\r\n0\r\n\r\n$/);
});

test("an answer of a host with chunks and a length has its chunks alone", async () => {
  const inside = "HTTP/1.1 200 OK\r\n\r\n";
  const chunk = `${inside.length.toString(16)}\r\n${inside}\r\n0\r\n\r\n`;
  const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n";
  const program = await connected(answering(head + chunk));
  program.write(`GET / HTTP/1.1\r\n${host.replace("close", "keep-alive")}\r\n`);
  const answer = await text(program);
  expect(answer).not.toMatch(/content-length/i);
  expect(answer.endsWith(chunk)).toBe(true);
});

test.each([
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "not valid HTTP: Parse Error"],
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "not valid HTTP: Parse Error"],
  [`HTTP/1.1 200 OK\r\nX: ${"a".repeat(70_000)}\r\n\r\n`, "headers are larger than 64 KiB"],
  ["", "closed the connection early"],
])("a host that answers %.60j gets a 502 that says why", async (bytes, reason) => {
  const program = await connected(answering(bytes));
  program.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  const answer = await text(program);
  expect(answer).toMatch(/^HTTP\/1.1 502 /);
  expect(answer).toContain(reason);
});

test.each([
  ["an absolute address", `GET http://other.example.com/ HTTP/1.1\r\n${host}\r\n`],
  ["a second Host", `GET / HTTP/1.1\r\n${host}Host: other.example.com\r\n\r\n`],
])("a request that names another host by %s does not reach this one", async (_, request) => {
  const { heads, answer } = await exchange(request);
  expect(heads).toEqual([]);
  expect(answer).toMatch(/^HTTP\/1.1 4\d\d /);
});

test("a refused upgrade is answered whole", async () => {
  const server = createServer();
  server.on("upgrade", (_incoming, socket) =>
    socket.end("HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n6\r\nsecond\r\n0\r\n\r\n"),
  );
  const program = await connected(server);
  program.write(`GET / HTTP/1.1\r\n${host.replace("close", "upgrade")}Upgrade: websocket\r\n\r\n`);
  const answer = await text(program);
  expect(answer).toMatch(/^HTTP\/1.1 401 No\r\n/);
  expect(answer).toMatch(/\r\n\r\nfirstsecond$/);
  expect(answer).not.toMatch(/chunked/i);
});

test("an answer whose host has gone reaches a program that reads it late", async () => {
  const body = "x".repeat(300_000);
  const server = answering(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const program = await connected(server);
  program.write(`GET / HTTP/1.1\r\n${host.replace("close", "keep-alive")}\r\n`);
  const pieces: string[] = [];
  for await (const piece of program) {
    pieces.push(String(piece));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(pieces.join("").length).toBeGreaterThan(body.length);
});

test("endless unanswered requests close their connection", async () => {
  let reached = 0;
  const program = await connected(createServer(() => void reached++));
  program.on("error", () => {}).resume();
  program.write(`GET / HTTP/1.1\r\n${host.replace("close", "keep-alive")}\r\n`.repeat(100));
  await once(program, "end");
  expect(reached).toBeLessThanOrEqual(1);
});

/** A host that repeats what it was sent in every way that it can. */
function repeating(headersOf: (incoming: IncomingMessage) => Record<string, string>): Server {
  return createServer((incoming, response) => {
    const token = String(incoming.headers["x-token"]);
    response.writeHead(200, { "x-repeated": token, ...headersOf(incoming) });
    // In two pieces, and once more after an ordinary beginning of the value.
    response.write(`${incoming.headers["accept-encoding"]} ${token.slice(0, 4)}`);
    setTimeout(() => response.end(`${token.slice(4)} the-val ${token}`), 20);
  });
}

test("a value that the host repeats is a placeholder again, in headers and in a body that comes in pieces", async () => {
  const program = await connected(repeating(() => ({})));
  program.write(`GET / HTTP/1.1\r\n${host}Accept-Encoding: gzip\r\n\r\n`);
  const answer = await text(program);
  expect(answer).not.toContain("the-value");
  expect(answer).toMatch(/x-repeated: berth-secret-T-1\r\n/);
  expect(answer.replaceAll(/\r\n[0-9a-f]+\r\n/g, "")).toContain("identity berth-secret-T-1 the-val berth-secret-T-1");
});

test("a value that the host kept is not in the answer to a later request, which comes whole and is as long as it was", async () => {
  const kept = "kept: the-value, whole";
  const asked: IncomingMessage[] = [];
  const program = await connected(
    createServer((incoming, response) => {
      asked.push(incoming);
      response.writeHead(200, { "content-length": kept.length }).end(kept);
    }),
  );
  const plain = host.replace("X-Token: berth-secret-T-1\r\n", "");
  program.write(`GET / HTTP/1.1\r\n${plain}Range: bytes=0-8\r\nAccept-Encoding: gzip\r\n\r\n`);
  const answer = await text(program);
  expect(asked[0]!.headers).toMatchObject({ "accept-encoding": "identity" });
  expect(asked[0]!.headers).not.toHaveProperty("range");
  expect(answer).toMatch(/content-length: 22\r\n/);
  expect(answer).toMatch(/\r\n\r\nkept: \*{9}, whole$/);
});

test("a value that the host repeats is a placeholder again where it refuses another protocol", async () => {
  const server = createServer();
  server.on("upgrade", (incoming, socket) => {
    const token = String(incoming.headers["x-token"]);
    socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${token.length}\r\nX-Repeated: ${token}\r\n\r\n${token}`);
  });
  const program = await connected(server);
  program.write(`GET / HTTP/1.1\r\n${host.replace("close", "upgrade")}Upgrade: x\r\n\r\n`);
  const answer = await text(program);
  expect(answer).not.toContain("the-value");
  expect(answer).toMatch(/\r\n\r\nberth-secret-T-1$/);
});

test("a placeholder is replaced in no other header, so what servers repeat by standard has none", async () => {
  const asked = "access-control-request-headers";
  const program = await connected(
    repeating(({ headers }) => ({ "access-control-allow-headers": String(headers[asked]) })),
  );
  const request = host.replace("X-Token: berth-secret-T-1\r\n", "");
  program.write(`OPTIONS / HTTP/1.1\r\n${request}Access-Control-Request-Headers: berth-secret-T-1\r\n\r\n`);
  expect(await text(program)).toMatch(/access-control-allow-headers: berth-secret-T-1\r\n/);
});

test("the head of an answer comes before its body, with the host's own bytes", async () => {
  const snowman = Buffer.from("☃").toString("latin1");
  const server = createTcpServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\nX-Own: ${snowman}\r\nContent-Length: 2\r\n\r\n`, "latin1");
      });
  });
  const program = await connected(server);
  program.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  let seen = "";
  for await (const piece of program) {
    seen += (piece as Buffer).toString("latin1");
    if (seen.includes("\r\n\r\n")) break;
  }
  expect(seen).toContain(`X-Own: ${snowman}\r\n`);
});

test("a stream is passed on as it comes, though its end may be the beginning of a value", async () => {
  const program = await connected(
    createServer((_incoming, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: one\n\n");
    }),
  );
  program.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  let seen = "";
  for await (const piece of program) {
    seen += String(piece);
    if (seen.includes("data: one\n\n")) break;
  }
  expect(seen).toContain("data: one\n\n");
});

test("headers that values make too long are refused, and not built", async () => {
  secret.value = "v".repeat(4_096);
  closing.push(() => {
    secret.value = "the-value";
  });
  const many = Array(300).fill(secret.placeholder).join(",");
  const { heads, answer } = await exchange(
    `GET / HTTP/1.1\r\nHost: api.example.com\r\nConnection: close\r\nX-Token: ${many}\r\n\r\n`,
  );
  expect(heads).toEqual([]);
  expect(answer).toContain("431 Request Header Fields Too Large");
});

test("pipelined requests get their values when it is their turn", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const tokens: unknown[] = [];
  const program = await connected(
    createServer(async ({ headers }, response) => {
      tokens.push(headers["x-token"]);
      await gates[tokens.length - 1]!.promise;
      response.end("reached");
    }),
  );
  const answers = text(program);
  const request = "GET / HTTP/1.1\r\nHost: api.example.com\r\nX-Token: berth-secret-T-1\r\n";
  program.write(`${request}\r\n${request}Connection: close\r\n\r\n`);
  await expect.poll(() => tokens).toEqual(["the-value"]);
  secret.value = "the-other";
  closing.push(() => {
    secret.value = "the-value";
  });
  for (const { resolve } of gates) resolve();
  expect(await answers).toMatch(/reached.*reached/s);
  expect(tokens).toEqual(["the-value", "the-other"]);
});
