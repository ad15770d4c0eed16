import { once } from "node:events";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { maximumLogBytes } from "../contract/guest.ts";
import { InvalidValue } from "../contract/validation.ts";
import { GuestConnection } from "./guest-client.ts";

// Output that an agent with root on its machine can make its runner send.

let server: Server;
let connection: GuestConnection;
/** Whether answers begin at once. */
let hasHead: boolean;
let answer: (stream: ServerHttp2Stream) => Promise<void>;

beforeEach(async () => {
  hasHead = true;
  const http2 = createHttp2Server();
  http2.on("stream", (stream) => {
    stream.on("error", () => {});
    if (hasHead) stream.respond({ ":status": 200 });
    void answer(stream);
  });
  server = createServer((socket) => http2.emit("connection", socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  connection = new GuestConnection({ machine: "ada", account: () => "a" }, socket);
});
afterEach(async () => {
  connection[Symbol.dispose]();
  server.close();
  await once(server, "close");
});

/** Writes this repeatedly, as fast as it is read, until the reader is gone. */
async function endless(stream: ServerHttp2Stream): Promise<void> {
  const chunk = Buffer.from(`${JSON.stringify({ lines: ["x".repeat(1023)] })}\n`.repeat(64));
  while (!stream.destroyed) {
    if (!stream.write(chunk)) await once(stream, "drain").catch(() => {});
    await setImmediate();
  }
}

test("an answer without an end is given up", async () => {
  answer = endless;
  await expect(connection.guest.activity({})).rejects.toThrow("more than 1024 bytes");
});

test("an answer that comes a byte at a time is given up when its time is over", async () => {
  answer = async (stream) => {
    for (; !stream.destroyed; await setImmediate()) stream.write(" ");
  };
  await expect(connection.guest.listCommands({}, { timeoutMs: 300 })).rejects.toThrow(
    "did not respond to listCommands within 300 ms",
  );
});

test("an answer in lines that does not begin is given up when its time is over", async () => {
  hasHead = false;
  answer = async () => {};
  const items = connection.guest.log({ tail: 1, follow: true }, { timeoutMs: 300 });
  await expect(items.next()).rejects.toThrow("did not respond to log within 300 ms");
});

test("of a log without an end as much is taken as a log can hold", async () => {
  answer = endless;
  let size = 0;
  const items = connection.guest.log({ tail: 100, follow: false });
  for await (const batch of items) size += JSON.stringify(batch).length;
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThanOrEqual(8 * maximumLogBytes);
});

test("a response with too many values is not parsed", async () => {
  answer = async (stream) => void stream.end(`{"commands":[${"{},".repeat(300_000)}{}]}`);
  await expect(connection.guest.listCommands({})).rejects.toThrow("limited to 100000 JSON values");
});

test("a line that is nested too deeply is not parsed", async () => {
  answer = async (stream) => void stream.end(`{"lines":${"[".repeat(20_000)}${"]".repeat(20_000)}}\n`);
  await expect(connection.guest.log({ tail: 1, follow: false }).next()).rejects.toThrow("10000 levels");
});

test("the error for an invalid response names few of its issues", async () => {
  const packages = Array.from({ length: 9_000 }, () => ({}));
  answer = async (stream) => void stream.end(JSON.stringify({ apt: packages, npm: packages }));
  const error = await connection.guest.listInstalled({}).then(
    () => expect.unreachable(),
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidValue);
  expect(error.message.length).toBeLessThan(1_000);
});

test("unfinished responses of one machine share a budget of bytes", async () => {
  const open: ServerHttp2Stream[] = [];
  answer = async (stream) => {
    open.push(stream);
    for (let left = 60; left > 0 && !stream.destroyed; left--) {
      if (!stream.write(Buffer.alloc(256 * 1024, " "))) await once(stream, "drain").catch(() => {});
    }
  };
  const calls = Array.from({ length: 4 }, () => connection.guest.listCommands({}, { timeoutMs: 100_000 }));
  await expect(Promise.race(calls)).rejects.toMatchObject({ code: "too_many_requests", status: 429 });
  for (const stream of open) stream.destroy();
  await Promise.allSettled(calls);
  answer = async (stream) => void stream.end('{"commands":[]}');
  expect(await connection.guest.listCommands({})).toEqual({ commands: [] });
});
