import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { Connection } from "./connection.ts";
import { followEvents } from "./events.ts";

interface Counted {
  n: number;
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Serves each connection with the next listener. The last one repeats. */
async function serve(...listeners: RequestListener[]): Promise<{ client: Connection; paths: string[] }> {
  const paths: string[] = [];
  server = createServer((request, response) => {
    const listener = listeners[Math.min(paths.length, listeners.length - 1)]!;
    paths.push(request.url!);
    listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    client: new Connection({ url: `http://127.0.0.1:${port}`, key: "berth_sk_test" }),
    paths,
  };
}

/** Streams events with ids. Then ends, or breaks off in the middle of one. */
function stream(ids: number[], end: "end" | "break" = "end"): RequestListener {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`: a comment\n\n${ids.map((n) => `id: ${n}\ndata: {"n":${n}}\n\n`).join("")}`);
    if (end === "end") response.end();
    else response.write("id: 99\ndata: {", () => response.destroy());
  };
}

function refuse(status: number): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ statusCode: status, message: "Refused.", error: "" }));
  };
}

const path = { name: "ada", turnId: "1" };
const at = (after: number) => `/agents/ada/turns/1/events?after=${after}`;

function follow(client: Connection, signal?: AbortSignal) {
  const open = (lastId: string | null, again: boolean) =>
    client.request("getTurnEvents", { path, query: { after: Number(lastId) }, signal, once: again });
  return followEvents<Counted>(open, { isLast: ({ n }) => n === 4, delaysMs: [1, 1, 1], signal });
}

async function numbers(events: AsyncIterable<Counted>): Promise<number[]> {
  return (await Array.fromAsync(events)).map(({ n }) => n);
}

test("a stream that was whole counts as no attempt when it breaks, even without events", async () => {
  const quiet = Array.from({ length: 6 }, () => stream([]));
  const { client, paths } = await serve(...quiet, stream([1, 2, 3, 4]));
  expect(await numbers(follow(client))).toEqual([1, 2, 3, 4]);
  expect(paths).toHaveLength(7);
});

test("a stream is followed to its last event", async () => {
  const { client, paths } = await serve(stream([1, 2, 3, 4]));
  expect(await numbers(follow(client))).toEqual([1, 2, 3, 4]);
  expect(paths).toEqual([at(0)]);
});

test("a broken stream resumes from its last id without gap or repeat", async () => {
  const { client, paths } = await serve(
    stream([1, 2], "break"),
    refuse(503),
    stream([]),
    stream([2, 3], "break"),
    stream([4]),
  );
  expect(await numbers(follow(client))).toEqual([1, 2, 3, 4]);
  expect(paths).toEqual([0, 2, 2, 2, 3].map(at));
});

test("the last event is taken although its id is lower than that of an event before it", async () => {
  const { client } = await serve(stream([1, 2, 5], "break"), stream([4]));
  expect(await numbers(follow(client))).toEqual([1, 2, 5, 4]);
});

test("after a few tries it is given up", async () => {
  const { client, paths } = await serve(stream([1]), refuse(503));
  await expect(numbers(follow(client))).rejects.toThrow("broke off");
  expect(paths).toHaveLength(4);
});

test("a refused resumption ends the stream at once", async () => {
  const { client, paths } = await serve(stream([1]), refuse(404));
  await expect(numbers(follow(client))).rejects.toThrow("Refused.");
  expect(paths).toHaveLength(2);
});

test("the first connection is retried as any request", async () => {
  const { client, paths } = await serve(refuse(503), refuse(404));
  await expect(numbers(follow(client))).rejects.toThrow("Refused.");
  expect(paths).toHaveLength(2);
});

test("an aborted signal ends it with the signal's reason", async () => {
  const { client } = await serve((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('id: 1\ndata: {"n":1}\n\n');
  });
  const quit = new AbortController();
  const seen: number[] = [];
  const following = (async () => {
    for await (const { n } of follow(client, quit.signal)) {
      seen.push(n);
      quit.abort(new Error("quit"));
    }
  })();
  await expect(following).rejects.toThrow("quit");
  expect(seen).toEqual([1]);
});

test("204 ends a stream: nothing follows its last event", async () => {
  const { client, paths } = await serve((_request, response) => response.writeHead(204).end());
  expect(await numbers(follow(client))).toEqual([]);
  expect(paths).toHaveLength(1);
});

test("a response that is not an event stream is rejected", async () => {
  const { client } = await serve((_request, response) => response.end("<html>"));
  await expect(numbers(follow(client))).rejects.toThrow("not Berth");
});

test("an abort ends a stream also when what asked for it has been collected", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { client } = await serve((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write('id: 1\ndata: {"n":1}\n\n');
  });
  const over = new AbortController();
  const events = follow(client, over.signal);
  expect((await events.next()).value).toEqual({ n: 1 });
  const next = events.next();
  // Collected is what nothing held in an earlier turn of the event loop.
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate();
    collect();
  }
  over.abort(new Error("enough"));
  await expect(next).rejects.toThrow("enough");
});
