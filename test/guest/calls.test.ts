import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { noSecrets } from "../../src/contract/guest.ts";
import { type CallTable, type ClientOf, duplex } from "../../src/contract/guest-call.ts";
import { guestCalls } from "../../src/contract/guest-calls.ts";
import { InvalidValue } from "../../src/contract/validation.ts";
import { GuestError, type GuestHandlers, type HandlersOf, serveCalls } from "../../src/guest/control.ts";
import { clientOf } from "../../src/machines/guest-client.ts";

// The server's client and the runner's dispatcher, over a socket.

const ada = { machine: "ada", account: () => "a" };

/** The dispatcher's reports of times, with the calls that were handled, in order. */
let seen: string[] = [];

let resources: AsyncDisposableStack;
beforeEach(() => {
  seen = [];
  resources = new AsyncDisposableStack();
});
afterEach(() => resources[Symbol.asyncDispose]());

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  resources.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function connected<Table extends CallTable>(table: Table, handlers: HandlersOf<Table>): Promise<ClientOf<Table>> {
  const http2 = serveCalls(table, handlers, async () => void seen.push("clock"));
  const port = await listening(createServer((socket) => http2.emit("connection", socket)));
  const socket = connect(port, "127.0.0.1");
  const session = connectHttp2("http://guest", { createConnection: () => socket });
  resources.defer(() => session.destroy());
  return clientOf(table, session, ada);
}

const failing = async () => {
  throw new Error("not scripted");
};

/** A guest that handles these calls. */
function guestWith(handlers: Partial<GuestHandlers>): Promise<ClientOf<typeof guestCalls>> {
  const none = Object.fromEntries(Object.keys(guestCalls).map((name) => [name, failing])) as unknown as GuestHandlers;
  return connected(guestCalls, { ...none, ...handlers });
}

test("the clock is set ahead of each call, but not of the adoption, which sets it itself", async () => {
  const health = { machineId: "m", bootId: "b", runtime: "idle", reason: null } as const;
  const handled = (name: string) => async () => {
    seen.push(name);
    return health;
  };
  const guest = await guestWith({ adopt: handled("adopt"), startRuntime: handled("startRuntime") });
  const names = { machineId: "m", bootId: "b", hostname: "ada", runtime: "claude-code" };
  expect(await guest.adopt({ ...names, time: 1, entropy: "00", token: "t", secrets: noSecrets })).toEqual(health);
  await guest.startRuntime({});
  expect(seen).toEqual(["adopt", "clock", "startRuntime"]);
});

test("a request that does not fit the table does not come to its handler", async () => {
  const guest = await guestWith({ turnEvents: failing });
  const next = guest.turnEvents({ turnId: "../../etc/passwd", after: 0 }).next();
  await expect(next).rejects.toThrow(/turnEvents in the guest: .*turnId/s);
});

test("a response that does not fit the table does not come to the server", async () => {
  const guest = await guestWith({ activity: async () => ({ busy: "very" }) as unknown as { busy: boolean } });
  await expect(guest.activity({})).rejects.toThrow(InvalidValue);
});

test("an unknown turn is lost; other failures keep the guest's message", async () => {
  const unknown = async () => {
    throw new GuestError("turn_unknown", "no such turn");
  };
  const guest = await guestWith({ turnEvents: unknown });
  await expect(guest.turnEvents({ turnId: crypto.randomUUID(), after: 0 }).next()).rejects.toMatchObject({
    code: "machine_lost",
    message: "The agent's machine stopped before the message was saved.",
  });
  await expect(guest.quiesce({ endRuntime: false })).rejects.toThrow("quiesce in the guest: not scripted");
});

test("a call that the runner does not have is refused", async () => {
  const older = {};
  const http2 = serveCalls(older, {}, async () => {});
  const port = await listening(createServer((socket) => http2.emit("connection", socket)));
  const session = connectHttp2("http://guest", { createConnection: () => connect(port, "127.0.0.1") });
  resources.defer(() => session.destroy());
  const call = clientOf(guestCalls, session, ada).quiesce({ endRuntime: false });
  await expect(call).rejects.toMatchObject({
    code: "upgrade_required",
    message: expect.stringContaining("earlier version of Berth"),
  });
});

test("a reader of lines that hangs up ends them in the guest, without an error of its own", async () => {
  const ended = Promise.withResolvers<void>();
  const guest = await guestWith({
    log: async function* (_, { gone }) {
      gone.addEventListener("abort", () => ended.resolve());
      for (let line = 1; !gone.aborted; line++) {
        yield [{ lines: [`line ${line}`] }];
        await sleep(5);
      }
    },
  });
  const over = new AbortController();
  const lines: string[] = [];
  for await (const items of guest.log({ tail: 10, follow: true }, { signal: over.signal })) {
    lines.push(...items.flatMap((item) => item.lines));
    if (lines.length >= 3) over.abort();
  }
  expect(lines.slice(0, 3)).toEqual(["line 1", "line 2", "line 3"]);
  await ended.promise;
});

const tunnels = { open: duplex({ request: z.object({ port: z.int() }) }) } as const;

function tunnelsTo(): Promise<ClientOf<typeof tunnels>> {
  return connected(tunnels, {
    open: async ({ port }) => {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      await once(socket, "connect");
      return socket;
    },
  });
}

test("a duplex call passes bytes both ways and closes each independently", async () => {
  const accepted = Promise.withResolvers<Socket>();
  const port = await listening(createServer({ allowHalfOpen: true }, (socket) => accepted.resolve(socket)));
  const stream = await (await tunnelsTo()).open({ port });
  const socket = await accepted.promise;
  const sent = Buffer.alloc(3 * 1024 * 1024, "€");
  stream.end(sent);
  // Received data is answered after the end of the sent data.
  const received = await text(socket);
  expect(received).toBe(sent.toString("utf8"));
  socket.end(received);
  expect(await text(stream)).toBe(received);
});

test("a duplex call that the guest does not take up is given up in time, or with its caller", async () => {
  const never = () => new Promise<never>(() => {});
  const guest = await connected(tunnels, { open: never });
  await expect(guest.open({ port: 1 }, { timeoutMs: 100 })).rejects.toThrow("did not respond to open within 100 ms");
  const gone = new AbortController();
  const opening = guest.open({ port: 1 }, { signal: gone.signal });
  gone.abort();
  await expect(opening).rejects.toThrow();
});

test("the other way round, the far end ends first", async () => {
  const accepted = Promise.withResolvers<Socket>();
  const port = await listening(createServer({ allowHalfOpen: true }, (socket) => accepted.resolve(socket)));
  const stream = await (await tunnelsTo()).open({ port });
  const socket = await accepted.promise;
  socket.end("first");
  expect(await text(stream)).toBe("first");
  stream.end("second");
  expect(await text(socket)).toBe("second");
});

test("a duplex call whose caller hangs up ends at the far end too, and one that cannot be opened is refused", async () => {
  const accepted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => accepted.resolve(socket));
  const port = await listening(server);
  const client = await tunnelsTo();
  const stream = await client.open({ port });
  const socket = await accepted.promise;
  socket.on("error", () => {});
  stream.destroy();
  await once(socket.resume(), "close");
  server.close();
  await once(server, "close");
  await expect(client.open({ port })).rejects.toThrow("ECONNREFUSED");
});
