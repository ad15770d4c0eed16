import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Berth } from "@berth/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { ended } from "../support/scripted-api.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The ports of a scripted machine are this machine's: what listens here listens there.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));

let service: ScriptedService;
let berth: Berth;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  berth = new Berth({ url: service.client.url, key: service.client.key });
});
afterAll(() => service[Symbol.asyncDispose]());

/** A program that listens on a port. */
async function listen(serve: (socket: Socket) => void): Promise<{ port: number } & Disposable> {
  const server = createServer({ allowHalfOpen: true }, serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket.on("error", () => {})));
  const end = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: end };
}

/** Answers with all that it was sent, once that has ended. */
const echo = (socket: Socket) => void buffer(socket).then((all) => socket.end(all));

function start(args: string[]): ChildProcess {
  const { url, key } = service.client;
  return spawn(launcher, args, { env: { PATH: process.env.PATH, TZ: "UTC", BERTH_URL: url, BERTH_API_KEY: key } });
}

test("what listens is listed with its program", async () => {
  const program = "const s = require('net').createServer().listen(0, '127.0.0.1', () => console.log(s.address().port))";
  const running = berth.agent("ada").commands.stream({ command: ["node", "-e", program] });
  const events = running[Symbol.asyncIterator]();
  const first = (await events.next()).value as { text: string };
  const port = Number(first.text);
  const [found] = (await berth.agent("ada").ports.list()).filter((each) => each.port === port);
  expect(found).toMatchObject({ port, address: "127.0.0.1", program: expect.stringMatching(/^(node|MainThread)$/) });
  expect(Math.abs(Date.parse(found!.since!) - Date.now())).toBeLessThan(60_000);
  const shown = await ended(start(["ports", "ada"]));
  expect(shown.stdout).toMatch(new RegExp(`^${port} +127.0.0.1 +\\w+ \\(${found!.pid}\\) +20`, "m"));
  await berth.agent("ada").commands.signal(await running.id, "SIGKILL");
  await events.return?.(undefined as never);
});

test("a port of this machine is one of the agent's: large transfers, both ways, each direction closes alone", async () => {
  using listening = await listen(echo);
  const child = start(["port-forward", "ada", `0:${listening.port}`]);
  const outcome = ended(child);
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  const local = Number(/^127\.0\.0\.1:(\d+) is port/.exec(line.toString())![1]);
  const sent = randomBytes(5_000_000);
  const answers = [1, 2, 3].map(async () => {
    const socket = connect({ port: local, host: "127.0.0.1", allowHalfOpen: true });
    socket.end(sent);
    return (await buffer(socket)).equals(sent);
  });
  expect(await Promise.all(answers)).toEqual([true, true, true]);
  child.kill("SIGINT");
  expect(await outcome).toMatchObject({ code: 0, stderr: "" });
});

test("a port without a listener is reported, and a forwarded one closes its connection", async () => {
  const closed = await listen(() => {});
  const { port } = closed;
  closed[Symbol.dispose]();
  const child = start(["port-forward", "ada", `0:${port}`]);
  const outcome = ended(child);
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  const socket = connect(Number(/:(\d+) is/.exec(line.toString())![1]), "127.0.0.1");
  await text(socket).catch(() => "");
  const url = await berth.agent("ada").ports.connectionUrl(port);
  expect((await refusalOf(url)).code).toBe("port_not_listening");
  child.kill("SIGINT");
  expect((await outcome).stderr).toContain(`Nothing listens on port ${port} in the machine.`);
});

test("reports a local port that is in use, and an invalid one", async () => {
  using taken = await listen(() => {});
  expect(await ended(start(["port-forward", "ada", `${taken.port}:80`]))).toMatchObject({ code: 1 });
  const wrong = await ended(start(["port-forward", "ada", "80:90:100"]));
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("LOCAL:REMOTE")]);
});

test("a program that breaks its connection off breaks the other end, too", async () => {
  using listening = await listen((socket) => socket.once("data", () => socket.resetAndDestroy()));
  const socket = new WebSocket(await berth.agent("ada").ports.connectionUrl(listening.port));
  const frames: unknown[] = [];
  socket.once("open", () => socket.send(Buffer.from("break")));
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  const [code] = (await once(socket, "close")) as [number];
  expect(code).toBe(1011);
  expect(frames).toEqual([expect.objectContaining({ type: "error", code: "machine_lost" })]);
});

test("a connection wakes the machine", async () => {
  using listening = await listen(echo);
  await service.client.createAgent("sleepy");
  await service.client.call("POST", "/agents/sleepy/suspend?wait=suspended");
  await expect.poll(async () => (await service.client.call("GET", "/agents/sleepy")).body.status).toBe("suspended");
  const socket = new WebSocket(await berth.agent("sleepy").ports.connectionUrl(listening.port));
  await once(socket, "open");
  socket.send(Buffer.from("hello"));
  socket.send(JSON.stringify({ type: "end" }));
  const [data] = (await once(socket, "message")) as [Buffer];
  expect(String(data)).toBe("hello");
  await once(socket, "close");
});

test("the runner's own ports cannot be forwarded", async () => {
  for (const port of [7000, 7001, 7002]) {
    expect((await refusalOf(await berth.agent("ada").ports.connectionUrl(port))).code).toBe("port_not_listening");
  }
  expect((await service.client.call("GET", "/agents/ada/ports/0/connection")).status).toBe(400);
});

/** The answer in place of a WebSocket. */
async function refusalOf(url: string): Promise<{ code: string }> {
  const socket = new WebSocket(url);
  const [, response] = await once(socket, "unexpected-response");
  socket.on("error", () => {});
  const body = JSON.parse(await text(response));
  socket.terminate();
  return body;
}

test("a client that leaves while it is connected leaves no connection into the machine", async () => {
  const open = new Set<Socket>();
  using listening = await listen((socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket)).on("end", () => socket.end());
    socket.resume();
  });
  const { url, key } = service.client;
  const address = `${url.replace("http", "ws")}/agents/ada/ports/${listening.port}/connection`;
  const headers = { authorization: `Bearer ${key}` };
  for (let count = 0; count < 20; count++) {
    const socket = new WebSocket(address, { headers }).on("error", () => {});
    // Some leave at once, others while they are connected into the machine.
    await new Promise((resolve) => setTimeout(resolve, count * 2));
    socket.terminate();
  }
  const last = new WebSocket(address, { headers });
  await once(last, "open");
  await expect.poll(() => open.size).toBe(1);
  last.terminate();
  await expect.poll(() => open.size).toBe(0);
});
