import { once } from "node:events";
import { rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { BerthError } from "../../src/contract/errors.ts";
import {
  askKeeper,
  awaitUplink,
  dialGuest,
  type KeeperAddress,
  KeeperLost,
} from "../../src/kubernetes/keeper-client.ts";
import { KeeperServer } from "../../src/kubernetes/keeper-server.ts";
import { PassedFiles } from "../../src/kubernetes/passed-files.ts";
import { TemplateUplinks } from "../../src/kubernetes/template-uplinks.ts";
import { connectChannel, dialPort } from "../../src/machines/connect.ts";
import { newFolder } from "../support/config.ts";
import { machineSpec } from "../support/machine-spec.ts";
import { ScriptedVolume } from "../support/scripted-volume.ts";

// A server's calls to the keeper in a machine's pod, over HTTP. The keeper's machine is a scripted one.

let folder: string;
let driver: ScriptedVolume;
let keeper: KeeperServer;
let address: KeeperAddress;
let epochFile: string;
let uplinks: TemplateUplinks;

const spec = machineSpec("a1");
const listen = async () =>
  KeeperServer.listen({
    driver,
    files: await PassedFiles.open(driver.files, join(folder, "passed")),
    uplinks,
    token: "secret",
    epochFile,
    host: "127.0.0.1",
    port: 0,
  });
const silent = { plan: () => {}, begin: () => {} };

beforeAll(async () => {
  folder = await newFolder();
  epochFile = join(folder, "epoch");
});
beforeEach(async () => {
  uplinks = new TemplateUplinks();
  driver = new ScriptedVolume(folder);
  keeper = await listen();
  address = { host: "127.0.0.1", port: keeper.port, token: "secret", epoch: 1 };
  return async () => {
    await driver.destroy(spec.id);
    await keeper[Symbol.asyncDispose]();
    await rm(epochFile, { force: true });
  };
});
afterAll(() => rm(folder, { recursive: true }));

test("a call's steps come as they are taken, its result and its error as they are", async () => {
  const steps: unknown[] = [];
  const progress = { plan: (names: unknown) => steps.push(names), begin: (name: unknown) => steps.push(name) };
  const machine = await askKeeper(address, "create", [spec], { progress });
  expect(machine).toMatchObject({ id: "a1", unadopted: true });
  expect(steps).toEqual([["disk", "machine", "runtime"], "disk", "machine"]);
  expect(await askKeeper(address, "observe", ["a1"])).toMatchObject({ phase: "running", generation: 1 });
  driver.failures.push(new BerthError("disk_full", "There is no room."));
  await expect(askKeeper(address, "boot", [spec])).rejects.toMatchObject({
    code: "disk_full",
    message: "There is no room.",
  });
  await expect(askKeeper(address, "token", ["b2"])).rejects.toBeInstanceOf(BerthError);
});

test("the guest is dialled through the keeper, and one that is not there is lost", async () => {
  const { tokens } = await askKeeper(address, "create", [spec]);
  const request = { channel: "control" as const, tokens, handshake: "proof" as const };
  const { socket, token } = await connectChannel(() => dialGuest(address, "a1"), request, 10_000);
  expect(tokens).toContain(token);
  socket.destroy();
  await askKeeper(address, "suspend", ["a1"]);
  await expect(dialGuest(address, "a1")).rejects.toMatchObject({ code: "machine_lost" });
});

test("each direction of a guest connection closes independently", async () => {
  const guest = createServer({ allowHalfOpen: true }, async (socket) => socket.end(`${await text(socket)} is taken`));
  await once(guest.listen(0, "127.0.0.1"), "listening");
  driver.dial = () => dialPort((guest.address() as AddressInfo).port);
  const socket = await dialGuest(address, "a1");
  socket.end("all of it");
  expect(await text(socket)).toBe("all of it is taken");
  guest.close();
});

test("a wrong key or an older term is refused, also after a restart", async () => {
  await expect(askKeeper({ ...address, token: "guess" }, "list" as "observe", ["a1"])).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(dialGuest({ ...address, token: "" }, "a1")).rejects.toMatchObject({ code: "machine_lost" });
  await askKeeper({ ...address, epoch: 3 }, "observe", ["a1"]);
  const deposed = askKeeper({ ...address, epoch: 2 }, "create", [spec]);
  await expect(deposed).rejects.toMatchObject({ code: "agent_elsewhere" });
  await using again = await listen();
  const old = askKeeper({ ...address, port: again.port, epoch: 2 }, "observe", ["a1"]);
  await expect(old).rejects.toMatchObject({ code: "agent_elsewhere" });
  expect(await driver.list()).toEqual([]);
  for (const call of ["close", "dial", "constructor", "../x"]) {
    await expect(askKeeper(address, call as "observe", ["a1"])).rejects.toMatchObject({ code: "agent_elsewhere" });
    const asked = askKeeper({ ...address, epoch: 3 }, call as "observe", ["a1"]);
    await expect(asked).rejects.toMatchObject({ code: "path_not_found" });
  }
});

test("a caller that goes away aborts its call, and what is asked meanwhile waits for that", async () => {
  const gate = Promise.withResolvers<void>();
  driver.gate = gate.promise;
  const leave = new AbortController();
  const begun = Promise.withResolvers<void>();
  const progress = { plan: () => {}, begin: () => begun.resolve() };
  const creating = askKeeper(address, "create", [spec], { progress, signal: leave.signal });
  await begun.promise;
  leave.abort(new Error("gone"));
  await expect(creating).rejects.toThrow("gone");
  // By then the keeper has seen the connection's end.
  await askKeeper(address, "observe", ["a1"]);
  const attached = askKeeper(address, "attach", [spec]);
  gate.resolve();
  await expect(attached).rejects.toMatchObject({ code: "machine_lost" });
  expect(await askKeeper(address, "observe", ["a1"])).toMatchObject({ phase: "absent" });
});

test("reports the end of a run; a lost keeper differs from its errors", async () => {
  await askKeeper(address, "create", [spec]);
  const ended = askKeeper(address, "ended", ["a1"]);
  driver.kill("a1");
  await ended;
  await askKeeper(address, "boot", [spec]);
  const lost = expect(askKeeper(address, "ended", ["a1"])).rejects.toBeInstanceOf(KeeperLost);
  const { port } = keeper;
  await keeper[Symbol.asyncDispose]();
  await lost;
  await expect(askKeeper(address, "observe", ["a1"])).rejects.toBeInstanceOf(KeeperLost);
  const nobody = createServer((socket) => socket.end("SSH-2.0\r\n"));
  await new Promise<void>((resolve) => nobody.listen(port, "127.0.0.1", resolve));
  await expect(askKeeper(address, "create", [spec], { progress: silent })).rejects.toBeInstanceOf(KeeperLost);
  nobody.close();
  keeper = await listen();
});

test("a template's model calls are answered by the server that waits for them, and fail where none does", async () => {
  const leave = new AbortController();
  const waiting = awaitUplink(address, leave.signal);
  const guests = createServer((socket) => uplinks.serve(socket));
  await new Promise<void>((resolve) => guests.listen(0, "127.0.0.1", resolve));
  const { port } = guests.address() as AddressInfo;
  await expect
    .poll(async () => {
      const guest = connect(port, "127.0.0.1", () => guest.write("call"));
      return Promise.race([once(guest, "close").then(() => "closed"), waiting.then((server) => server !== null)]);
    })
    .toBe(true);
  const server = (await waiting)!;
  expect(String((await once(server, "data"))[0])).toBe("call");
  server.destroy();
  const next = awaitUplink(address, leave.signal);
  leave.abort();
  expect(await next).toBeNull();
  expect(await awaitUplink({ ...address, token: "guess" }, new AbortController().signal)).toBeNull();
  guests.close();
});

/** A server in place of the keeper that sends any response it is given. */
async function pretender(say: (socket: Socket) => void): Promise<AsyncDisposable & { address: KeeperAddress }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("data", () => say(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    address: { ...address, port },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
const observed = { id: "a1", generation: 1, restarts: 0, restores: 0, phase: "running", image: null, isUnused: false };

test.each([
  ["no JSON", "<html>\n"],
  ["no object", "17\n"],
  ["no result", '{"result":null}\n'],
  ["another machine's", `${JSON.stringify({ result: { ...observed, id: "b2" } })}\n`],
  ["a phase that is none", `${JSON.stringify({ result: { ...observed, phase: "lost" } })}\n`],
  ["a count that is none", `${JSON.stringify({ result: { ...observed, generation: -1 } })}\n`],
  ["a step that is none", '{"begin":"party"}\n'],
  ["one line that is too long", "x".repeat(300_000)],
  ["too many empty lines", "\n".repeat(10_000)],
  ["too many steps", '{"begin":"disk"}\n'.repeat(10_000)],
])("a keeper that answers %s is lost", async (_, text) => {
  await using pod = await pretender((socket) => socket.write(head + text));
  await expect(askKeeper(pod.address, "observe", ["a1"])).rejects.toBeInstanceOf(KeeperLost);
});

test("a keeper that talks of something else, or never comes to an end, is lost", async () => {
  const upgrade = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
  await using upgrading = await pretender((socket) => socket.write(upgrade));
  await expect(askKeeper(upgrading.address, "boot", [spec])).rejects.toBeInstanceOf(KeeperLost);
  await using brief = await pretender((socket) => socket.end(`${head}\n\n`));
  await expect(askKeeper(brief.address, "boot", [spec])).rejects.toBeInstanceOf(KeeperLost);
  await using endless = await pretender((socket) => {
    const line = `${JSON.stringify({ begin: "disk" })}\n`;
    socket.write(head);
    const more = () => {
      if (socket.destroyed) return;
      socket.write(line);
      setImmediate(more);
    };
    more();
  });
  const steps: unknown[] = [];
  const progress = { ...silent, begin: (name: unknown) => steps.push(name) };
  await expect(askKeeper(endless.address, "create", [spec], { progress })).rejects.toBeInstanceOf(KeeperLost);
  expect(steps.length).toBeLessThan(200);
});

test("a keeper's error has none of the service's own codes", async () => {
  const error = { code: "credentials_invalid", message: "Sign in again." };
  await using pod = await pretender((socket) => socket.write(`${head}${JSON.stringify({ error })}\n`));
  await expect(askKeeper(pod.address, "boot", [spec])).rejects.toMatchObject({
    code: "machine_failed",
    message: "Sign in again.",
  });
});

test("unknown fields of a keeper's result are dropped", async () => {
  const more = { ...observed, __proto__: null, status: "ready", agent: "b2" };
  await using pod = await pretender((socket) => socket.write(`${head}${JSON.stringify({ result: more })}\n`));
  expect(await askKeeper(pod.address, "observe", ["a1"])).toEqual(observed);
});

test("a guest that is dialled through a keeper that talks on is lost", async () => {
  await using refusing = await pretender((socket) => socket.write(`${head}${"x".repeat(100_000)}`));
  await expect(dialGuest(refusing.address, "a1")).rejects.toMatchObject({ code: "machine_lost" });
  await using junk = await pretender((socket) => socket.write("\0\0\0\0"));
  await expect(dialGuest(junk.address, "a1")).rejects.toMatchObject({ code: "machine_lost" });
});
