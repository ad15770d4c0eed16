import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { bytesBeforeDownload } from "../../src/contract/guest.ts";
import { openChannel } from "../../src/machines/connect.ts";
import type { Answer } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { movers } from "../support/splice-program.ts";

// Tunnels bring bytes into a machine past its runner: the real proxy, runner and program there, the real server. A program
// must be able to distinguish a download that broke off from a complete one.

const sent = randomBytes(3 * bytesBeforeDownload);

let service: ScriptedService;
/** The test defines its handling of a connection. */
let source: Server;
let serve: (socket: Socket) => void;
let authority: string;
let proxy: string;

beforeAll(async () => {
  source = createServer({ allowHalfOpen: true }, (socket) => serve(socket.on("error", () => {}))).listen(
    0,
    "127.0.0.1",
  );
  await once(source, "listening");
  authority = `127.0.0.1:${(source.address() as AddressInfo).port}`;
  service = await ScriptedService.start({ egressInside: [authority] });
  await service.client.createAgent("ada");
  proxy = service.driver.proxyOf(service.driver.running[0]!);
});
beforeEach(() => {
  serve = (socket) => socket.end(sent);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  source.close();
});

async function tunnel(): Promise<Socket> {
  const asked = request(proxy, { method: "CONNECT", path: authority }).end();
  const [, socket, head] = (await once(asked, "connect")) as [unknown, Socket, Buffer];
  if (head.length > 0) socket.unshift(head);
  return socket;
}

/** The bytes that a program has received when its connection ends, and how it ended. */
async function received(socket: Socket): Promise<{ bytes: Buffer; end: string }> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk)).resume();
  const end = await new Promise<string>((resolve) => {
    socket.once("end", () => resolve("whole")).once("error", ({ code }: NodeJS.ErrnoException) => resolve(code!));
  });
  socket.end();
  return { bytes: Buffer.concat(chunks), end };
}

const moving = async () => (await movers()).length;

const outcomes = async () => {
  const { body } = await service.client.call("GET", "/agents/ada/network/log?limit=100");
  return body.data.map(({ outcome }: { outcome: string }) => outcome);
};

/** Serves more than the first bytes, and gives the connection to `then` once the download is being moved. */
function halfWay(then: (socket: Socket) => void): void {
  serve = async (socket) => {
    socket.write(sent);
    await expect.poll(moving).toBe(1);
    then(socket);
  };
}

test("a large download comes whole, while bytes go the other way, and nothing is left behind", async () => {
  const upstream = createHash("sha256");
  let gone = "";
  serve = (socket) => {
    socket.write(sent);
    socket.on("data", (chunk) => upstream.update(chunk));
    socket.once("end", () => {
      gone = upstream.digest("hex");
      socket.end(sent);
    });
  };
  const socket = await tunnel();
  socket.end(sent);
  const { bytes, end } = await received(socket);
  expect([end, bytes.length]).toEqual(["whole", 2 * sent.length]);
  expect(bytes.equals(Buffer.concat([sent, sent]))).toBe(true);
  expect(gone).toBe(createHash("sha256").update(sent).digest("hex"));
  await expect.poll(moving).toBe(0);
  await expect.poll(outcomes).toEqual(["closed"]);
});

test("a source that breaks off is not taken for one that has ended, however little it has sent", async () => {
  serve = (socket) => void socket.write("the beginning", () => setTimeout(() => socket.resetAndDestroy(), 100));
  expect(await received(await tunnel())).toEqual({ bytes: Buffer.from("the beginning"), end: "ECONNRESET" });
  halfWay((socket) => socket.resetAndDestroy());
  const { bytes, end } = await received(await tunnel());
  expect(end).toBe("ECONNRESET");
  expect(sent.subarray(0, bytes.length).equals(bytes)).toBe(true);
  await expect.poll(moving).toBe(0);
  await expect.poll(async () => (await outcomes())[0]).toBe("reset");
});

test("a download that is not allowed any more is cut", async () => {
  halfWay(() => service.client.call("PUT", "/agents/ada/network", { allow: [], deny: ["*"] }));
  expect((await received(await tunnel())).end).toBe("ECONNRESET");
  await service.client.call("PUT", "/agents/ada/network", { allow: ["*"], deny: [] });
  await expect.poll(moving).toBe(0);
  await expect.poll(async () => (await outcomes())[0]).toBe("cut");
});

test("a program that leaves ends its download, and the source's connection", async () => {
  const left = Promise.withResolvers<void>();
  halfWay((from) => {
    from.once("close", () => left.resolve());
    socket.destroy();
    // More is sent until the end is heard of.
    const more = () => from.writable && from.write(sent, more);
    more();
  });
  const socket = await tunnel();
  socket.resume();
  await left.promise;
  await expect.poll(moving).toBe(0);
});

test("a machine that is suspended loses its downloads, and has new ones when it wakes", async () => {
  const suspended = Promise.withResolvers<Answer>();
  halfWay(() => suspended.resolve(service.client.call("POST", "/agents/ada/suspend")));
  expect((await received(await tunnel())).end).toBe("ECONNRESET");
  expect((await suspended.promise).status).toBe(200);
  expect((await service.client.call("POST", "/agents/ada/resume?wait=ready")).body.status).toBe("ready");
  serve = (socket) => socket.end(sent);
  proxy = service.driver.proxyOf(service.driver.running[0]!);
  expect((await received(await tunnel())).bytes.equals(sent)).toBe(true);
});

test("a download that breaks when its source has ended, but the program has not read all, is not whole", async () => {
  for (const breakOff of [
    (_: number) => service.client.call("POST", "/agents/ada/suspend"),
    async (mover: number) => process.kill(mover, "SIGKILL"),
  ]) {
    const ended = Promise.withResolvers<number>();
    halfWay(async (socket) => {
      const [mover] = await movers();
      process.kill(mover!, "SIGSTOP"); // It leaves the last bytes.
      socket.end(sent.subarray(-64 * 1024), () => ended.resolve(mover!));
    });
    const end = received(await tunnel());
    const mover = await ended.promise;
    await breakOff(mover);
    if ((await moving()) > 0) process.kill(mover, "SIGCONT");
    await expect.poll(moving).toBe(0);
    expect((await end).end).toBe("ECONNRESET");
    expect((await service.client.call("POST", "/agents/ada/resume?wait=ready")).body.status).toBe("ready");
    proxy = service.driver.proxyOf(service.driver.running[0]!);
  }
});

test("more at once than a machine moves come whole, too", async () => {
  const sockets = await Promise.all(Array.from({ length: 24 }, tunnel));
  for (const socket of sockets) socket.pause();
  await expect.poll(moving).toBe(16);
  const all = await Promise.all(sockets.map(received));
  expect(all.every(({ bytes, end }) => end === "whole" && bytes.equals(sent))).toBe(true);
  await expect.poll(moving).toBe(0);
});

test("a program that reads late gets all of it", async () => {
  const socket = await tunnel();
  socket.pause();
  await expect.poll(moving).toBe(1);
  const { bytes, end } = await received(socket);
  expect([end, bytes.equals(sent)]).toEqual(["whole", true]);
});

test("a download of a tunnel that is not there is refused", async () => {
  const id = service.driver.running[0]!;
  const token = await service.driver.token(id);
  const socket = await service.driver.dial(id);
  const download = { tunnel: "99", after: 0 };
  const opened = openChannel(socket, { channel: "download", tokens: [token], handshake: "proof", download }, 10_000);
  await expect(opened).rejects.toThrow("no such tunnel");
  socket.destroy();
});
