import { once } from "node:events";
import { createServer, request as makeRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, Berth, NoAnswerError, TurnError } from "@berth/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KillableService } from "../support/killable-service.ts";

let service: KillableService;
let berth: Berth;
beforeAll(async () => {
  service = await KillableService.start();
  const { url, key } = service.client;
  berth = new Berth({ url, key });
  await berth.agents.create({ name: "ada" }, { wait: "ready" });
});
afterAll(() => service[Symbol.asyncDispose]());

const counted = (last: number) => Array.from({ length: last }, (_, n) => `${n + 1} `).join("");

test("a reply that is read while the server is killed and started again is whole, and nothing in it is doubled", async () => {
  let broken = 0;
  const reply = berth.agent("ada").chat("count 800 10", { onBroken: () => broken++ });
  let text = "";
  const starts: Promise<void>[] = [];
  for await (const event of reply) {
    if (event.type === "response.output_text.delta") text += event.delta;
    if (starts.length === 2 || text.length < 200 * (starts.length + 1)) continue;
    await service.killServer();
    starts.push(service.startServer());
  }
  await Promise.all(starts);
  expect(text).toBe(counted(800));
  expect([starts.length, broken]).toEqual([2, expect.toSatisfy((times: number) => times >= 1)]);
  const { data } = await berth.agent("ada").turns().take(5);
  expect(data.map(({ id, message }) => [id, message])).toEqual([[await reply.turnId, "count 800 10"]]);
});

/** Passes requests on, and breaks off where the answer to the next POST would begin. */
async function losing(): Promise<{ proxy: Server; url: string; lost: () => number }> {
  let lost = 0;
  const proxy = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const passed = makeRequest(service.client.url + url, { method, headers }, (answer) => {
      if (method === "POST" && lost++ % 2 === 0) {
        answer.resume();
        return void response.destroy();
      }
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return { proxy, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, lost: () => lost };
}

test("a request whose response was lost is applied once", async () => {
  const { proxy, url, lost } = await losing();
  const losingBerth = new Berth({ url, key: service.client.key });
  expect(await losingBerth.agents.create({ name: "bea" }, { wait: "ready" })).toMatchObject({ status: "ready" });
  const { id, key } = await losingBerth.keys.create({ name: "once" });
  expect(key).toMatch(/^berth_sk_/);
  expect(await losingBerth.agent("bea").chat("count 5 1").text()).toBe(counted(5));
  expect(lost()).toBe(6);
  const keys = (await berth.keys.list().all()).filter(({ name }) => name === "once");
  expect(keys.map((each) => each.id)).toEqual([id]);
  expect((await berth.agent("bea").turns().all()).length).toBe(1);
  proxy.close();
});

test("a reply can be cancelled, before it has begun too, and read as text, and again from any event on", async () => {
  const reply = berth.agent("ada").chat("count 1000 20");
  const fault = { code: "cancelled", text: expect.stringMatching(/^(1 .*)?$/) };
  const rejected = expect(reply.text()).rejects.toMatchObject(fault);
  await reply.turnId;
  await reply.cancel();
  await rejected;
  await reply.cancel(); // It is over, which is as well.
  const early = berth.agent("ada").chat("count 1000 20");
  const cancelled = early.cancel();
  await expect(early.text()).rejects.toThrow(TurnError);
  await cancelled;
  const whole = berth.agent("ada").chat("count 20 1");
  expect(await whole.text()).toBe(counted(20));
  await expect(whole.text()).rejects.toThrow("read once");
  const again = berth.agent("ada").reply(await whole.turnId);
  expect(await again.text()).toBe(counted(20));
});

test("lists are read page by page, and errors have a code and the request's id", async () => {
  const messages: string[] = [];
  for await (const turn of berth.agent("ada").turns()) messages.push(turn.message);
  expect(messages).toEqual(["count 20 1", "count 1000 20", "count 1000 20", "count 800 10"]);
  const refused = await berth
    .agent("nobody")
    .get()
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ statusCode: 404, code: "agent_not_found", requestId: expect.stringMatching(/./) });
  const stranger = new Berth({ url: service.client.url, token: async () => null });
  await expect(stranger.account()).rejects.toMatchObject({ code: "credentials_missing" });
});

test("a request is sent again while the service is too busy, as late as it asks, and ends with the signal", async () => {
  const seen: { at: number; key: string | undefined }[] = [];
  const busy = createServer((incoming, response) => {
    seen.push({ at: performance.now(), key: incoming.headers["idempotency-key"] as string | undefined });
    incoming.resume();
    const headers = { "content-type": "application/json", ...(seen.length === 1 ? { "retry-after": "1" } : {}) };
    const status = seen.length > 2 ? 404 : seen.length === 1 ? 429 : 503;
    response.writeHead(status, headers).end('{"message":"No."}');
  }).listen(0, "127.0.0.1");
  await once(busy, "listening");
  const url = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
  await expect(new Berth({ url }).agent("ada").suspend()).rejects.toMatchObject({ statusCode: 404 });
  expect(seen.length).toBe(3);
  expect(seen[1]!.at - seen[0]!.at).toBeGreaterThanOrEqual(990);
  expect(new Set(seen.map(({ key }) => key))).toEqual(new Set([expect.stringMatching(/^[0-9a-f]{32}$/)]));
  seen.length = 0;
  await expect(new Berth({ url, retries: 0 }).account()).rejects.toMatchObject({ statusCode: 429 });
  seen.length = 0;
  const signal = AbortSignal.timeout(100);
  await expect(new Berth({ url }).account({ signal })).rejects.toMatchObject({ name: "TimeoutError" });
  busy.close();
  await expect(new Berth({ url, retries: 1 }).account()).rejects.toThrow(NoAnswerError);
});
