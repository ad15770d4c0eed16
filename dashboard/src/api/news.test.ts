import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type AccountEvent, Berth } from "@berth/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AccountNews } from "./news.ts";

let server: Server;
let berth: Berth;
/** The streams that are open, and the paths that were requested. */
let streams: ServerResponse[];
let paths: string[];
const stops: (() => void)[] = [];

beforeEach(async () => {
  streams = [];
  paths = [];
  server = createServer((request, response) => {
    paths.push(request.url!);
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    streams.push(response);
    response.on("close", () => streams.splice(streams.indexOf(response), 1));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  berth = new Berth({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: "test" });
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  server.closeAllConnections();
  server.close();
});

/** A tab of the browser, and the events that it has received. */
function openTab(topic = "events"): { events: AccountEvent[]; close: () => void } {
  const events: AccountEvent[] = [];
  const close = new AccountNews(berth, topic).listen((event) => events.push(event));
  stops.push(close);
  return { events, close };
}

function send(id: number): void {
  const event = { id, type: "agent.changed", agent: "ada", at: "2026-11-27T12:00:00.000Z" };
  streams[0]!.write(`id: ${id}\nevent: agent.changed\ndata: ${JSON.stringify(event)}\n\n`);
}

test("one of several tabs opens a stream and shares its events", async () => {
  const tabs = [openTab(), openTab()];
  await expect.poll(() => streams.length).toBe(1);
  send(1);
  for (const { events } of tabs) await expect.poll(() => events.map(({ id }) => id)).toEqual([1]);
  expect(paths).toEqual(["/events"]);
});

test("when the tab with the stream is closed, another continues after the last event", async () => {
  const [first, second] = [openTab(), openTab()];
  await expect.poll(() => streams.length).toBe(1);
  send(7);
  await expect.poll(() => second.events.length).toBe(1);
  first.close();
  await expect.poll(() => paths).toEqual(["/events", "/events?after=7"]);
  await expect.poll(() => streams.length).toBe(1);
  send(8);
  await expect.poll(() => second.events.map(({ id }) => id)).toEqual([7, 8]);
  expect(first.events).toHaveLength(1);
});

test("tabs of two workspaces do not share events", async () => {
  const tabs = [openTab("of one"), openTab("of two")];
  await expect.poll(() => streams.length).toBe(2);
  send(1);
  await expect.poll(() => tabs.reduce((sum, { events }) => sum + events.length, 0)).toBe(1);
  expect(paths).toEqual(["/events", "/events"]);
});
