import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import fastify, { type FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type SseEvent, sendEvents } from "./sse.ts";

const deadMs = 500;
const batch: SseEvent[] = Array.from({ length: 500 }, (_, index) => ({ id: index, data: "ü".repeat(1_000) }));
let app: FastifyInstance;
/** The last stream: the number of batches taken from its source, and its end. */
let taken: number;
let ended: Promise<void>;
/** Resolves when the slow stream has begun. */
let found: PromiseWithResolvers<void>;

beforeEach(async () => {
  taken = 0;
  found = Promise.withResolvers();
  app = fastify({ forceCloseConnections: true });
  app.get("/endless", async (_request, reply) => {
    const source = async function* (gone: AbortSignal) {
      for (; !gone.aborted; taken++) yield batch;
    };
    ended = sendEvents(reply, {}, source, deadMs);
    return reply;
  });
  app.get("/slow", async (_request, reply) => {
    await new Promise((resolve) => reply.raw.once("close", resolve));
    ended = sendEvents(reply, {}, async function* (gone) {
      if (!gone.aborted) await once(gone, "abort");
      yield [];
    });
    found.resolve();
    return reply;
  });
  app.get("/lines", async (_request, reply) => {
    await sendEvents(reply, {}, async function* () {
      yield [{ data: "one\u0085two\u2028three\u2029four" }];
    });
    return reply;
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(() => app.close());

async function reader(): Promise<Socket> {
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET /endless HTTP/1.1\r\nhost: here\r\n\r\n");
  await once(socket, "readable");
  return socket;
}

test("an event is one line, whatever a reader takes for the end of one", async () => {
  const { port } = app.server.address() as AddressInfo;
  const text = await (await fetch(`http://127.0.0.1:${port}/lines`)).text();
  expect(text).toBe('data: "one\\u0085two\\u2028three\\u2029four"\n\n');
});

test("a reader that accepts nothing is disconnected and its data dropped", async () => {
  const socket = await reader(); // It does not read.
  await ended;
  const before = taken;
  expect(before).toBeLessThan(100); // The socket's buffers took some.
  socket.resume();
  await once(socket, "close");
  expect(taken).toBe(before);
});

test("a slow reader that continues is waited for", async () => {
  const socket = await reader();
  let bytes = 0;
  // Longer in total than the time after which a reader is cut off.
  for (let rounds = 0; rounds < 20; rounds++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) bytes += (chunk as Buffer).length;
  }
  expect(socket.destroyed).toBe(false);
  expect(bytes).toBeGreaterThan(1_000_000);
  socket.destroy();
  await ended;
});

test("a reader that left before its stream began is known to be gone", async () => {
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET /slow HTTP/1.1\r\nhost: here\r\n\r\n");
  await once(app.server, "request");
  socket.destroy();
  await found.promise;
  await ended;
});
