import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Berth } from "@berth/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";

// A program in a machine that speaks HTTP as none does, and visitors who do. They speak over sockets of their own.

let service: ScriptedService;
let program: RawProgram;
/** The preview's host, and the cookie that opens it. */
let host: string;
let cookie: string;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  program = await RawProgram.start();
  const url = new URL(
    await new Berth({ url: service.client.url, key: service.client.key }).agent("ada").ports.preview(program.port),
  );
  host = url.host;
  cookie = /berth-preview=[^;]+/.exec(await asked([`GET ${url.pathname}${url.search} HTTP/1.1`, `Host: ${host}`]))![0];
});
afterAll(async () => {
  program[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

/** Answers every connection with the same bytes, and keeps what it is sent. */
class RawProgram implements Disposable {
  readonly #server = createServer((socket) => this.#serve(socket));
  readonly #sockets = new Set<Socket>();
  /** The bytes of the last connection. */
  sent = "";
  answer = "";

  static async start(): Promise<RawProgram> {
    const program = new RawProgram();
    program.#server.listen(0, "127.0.0.1");
    await once(program.#server, "listening");
    return program;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    this.sent = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      this.sent += String(chunk);
    });
    socket.once("data", () => socket.end(this.answer, "latin1"));
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Sends lines, an empty one and a body, and returns all that comes until the service ends the connection. */
async function asked(lines: string[], body = ""): Promise<string> {
  const socket = connect(Number(new URL(service.client.url).port), "127.0.0.1");
  socket.write(`${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n${body}`);
  return text(socket);
}

/** Asks for a page, as one who may see it. */
function page(lines: string[] = [], body = "", first = "GET / HTTP/1.1"): Promise<string> {
  return asked([first, `Host: ${host}`, `Cookie: ${cookie}`, ...lines], body);
}

function answering(answer: string): void {
  program.answer = answer;
}

test("no answer of a program ends the service", async () => {
  const ending = "Content-Length: 2\r\nConnection: close\r\n\r\nok";
  const answers: [string, RegExp][] = [
    [`HTTP/1.1 200 O\x01K\r\n${ending}`, /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/],
    [`HTTP/1.1 200 \xff\xfe\r\n${ending}`, /^HTTP\/1\.1 200 OK/],
    [`HTTP/1.1 999 \r\n${ending}`, /^HTTP\/1\.1 999/],
    [`HTTP/1.1 099 x\r\n${ending}`, /^HTTP\/1\.1 502/],
    [`HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok`, /^HTTP\/1\.1 502/],
    [`HTTP/1.1 200 OK\r\nX: a\x01\r\n${ending}`, /^HTTP\/1\.1 502/],
    [`ok`, /^HTTP\/1\.1 502/],
  ];
  for (const [answer, expected] of answers) {
    answering(answer);
    expect(await page()).toMatch(expected);
  }
  expect((await service.client.call("GET", "/agents/ada")).status).toBe(200);
});

test.each([
  "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 2\n\nok",
  "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
  "HTTP/1.1 200 OK\nConnection: close\n\nok",
])("a careless answer passes: %j", async (answer) => {
  answering(answer);
  expect(await page()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n(2\r\nok\r\n0\r\n\r\n|ok)$/);
});

test("an answer with chunks and a length has its chunks alone", async () => {
  const inside = "HTTP/1.1 200 OK\r\n\r\n";
  const chunk = `${inside.length.toString(16)}\r\n${inside}\r\n0\r\n\r\n`;
  answering(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n${chunk}`);
  const answer = await page();
  expect(answer).not.toMatch(/content-length/i);
  expect(answer.endsWith(chunk)).toBe(true);
});

test.each([
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "not valid HTTP: Parse Error"],
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "not valid HTTP: Parse Error"],
  [`HTTP/1.1 200 OK\r\nX: ${"a".repeat(300_000)}\r\n\r\n`, "headers are larger than 256 KiB"],
  ["", "broke the connection off"],
])("a refused answer gets a page that says why: %.60j", async (answer, reason) => {
  answering(answer);
  expect(await page()).toContain(reason);
});

test("many headers pass, with the program's own bytes", async () => {
  const snowman = Buffer.from("☃").toString("latin1");
  const long = "a".repeat(21_000);
  answering(`HTTP/1.1 200 OK\r\nX-Own: ${snowman}\r\nX-Long: ${long}\r\nContent-Length: 2\r\n\r\nok`);
  expect(await page()).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*\r\nX-Own: ☃\r\n[\s\S]*\r\n\r\nok$/);
});

test("a protocol that nobody asked for is not changed to", async () => {
  answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
  expect(await page()).toMatch(/^HTTP\/1\.1 502/);
});

test("a visitor's connection header hides neither the end of a body nor the host", async () => {
  answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  const inside = "GET /smuggled HTTP/1.1\r\nX-Forwarded-Host: evil\r\n\r\n";
  await page(["Connection: content-length, host", `Content-Length: ${inside.length}`], inside);
  expect(program.sent).toContain(`ontent-Length: ${inside.length}\r\n`);
  expect(program.sent).toContain(`ost: ${host}\r\n`);
});

test("a request that offers a protocol other than WebSocket is an ordinary one, with its body", async () => {
  answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  const answer = await page(["Upgrade: h2c", "Connection: Upgrade", "Content-Length: 5"], "hello", "POST / HTTP/1.1");
  expect(answer).toMatch(/^HTTP\/1\.1 200/);
  expect(program.sent).toMatch(/\r\n\r\nhello$/);
  expect(program.sent).not.toMatch(/upgrade/i);
  const ready = await asked(["GET /healthz HTTP/1.1", `Host: ${new URL(service.client.url).host}`, "Upgrade: foo"]);
  expect(ready).toMatch(/^HTTP\/1\.1 200/);
});

test("a path that is no URL is the program's to judge", async () => {
  answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  expect(await page([], "", "GET // HTTP/1.1")).toMatch(/^HTTP\/1\.1 200/);
  expect(program.sent).toMatch(/^GET \/\/ HTTP/);
});

test("a refused upgrade leaves no connection open", async () => {
  const socket = connect(Number(new URL(service.client.url).port), "127.0.0.1");
  // Half of the connection stays open at this end: the service must not wait for it.
  socket.allowHalfOpen = true;
  const lines = ["GET / HTTP/1.1", "Host: 1--x--000000000000.localhost", "Connection: Upgrade", "Upgrade: websocket"];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  socket.resume();
  await once(socket, "end");
  // Bytes written to a closed connection are answered with a reset.
  await expect
    .poll(async () => {
      socket.on("error", () => {}).write("x");
      return socket.destroyed;
    })
    .toBe(true);
});
