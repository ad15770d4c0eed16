import fastify from "fastify";
import { expect, test } from "vitest";
import { Pace, paceBodies, paceRefusals } from "./pacing.ts";

test("work is delayed evenly after the burst, and by two seconds at most", () => {
  const pace = new Pace({ everyMs: 10, burst: 100 });
  const delays = Array.from({ length: 500 }, () => pace.delay("busy", 0, 1));
  expect(delays.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 0));
  expect(delays.slice(100, 300)).toEqual(Array.from({ length: 200 }, (_, index) => (index + 1) * 10));
  expect(new Set(delays.slice(300))).toEqual(new Set([2_000]));
  expect(pace.delay("other", 0, 1)).toBe(0);
  expect(pace.delay("busy", 3_000, 1)).toBe(0);
});

test("work counts by its units", () => {
  const pace = new Pace({ everyMs: 10, burst: 100 });
  expect(pace.delay("busy", 0, 150)).toBe(500);
  expect(pace.delay("busy", 0, 10)).toBe(600);
});

test("only refusals are delayed, and each is answered", async () => {
  const app = fastify();
  paceRefusals(app);
  app.get("/known", async () => ({}));
  const refused = Array.from({ length: 110 }, () => app.inject("/unknown"));
  let isRefusing = true;
  const allRefused = Promise.all(refused).finally(() => {
    isRefusing = false;
  });
  expect((await app.inject("/known")).statusCode).toBe(200);
  expect(isRefusing).toBe(true);
  expect(new Set((await allRefused).map(({ statusCode }) => statusCode))).toEqual(new Set([404]));
});

test("large bodies are delayed, small ones of others are not, and each is answered", async () => {
  const app = fastify({ bodyLimit: 1024 ** 2 });
  paceBodies(app);
  app.post("/", async ({ body }) => String(body).length);
  const text = "a".repeat(1024 ** 2);
  const send = (payload: string, remoteAddress: string) =>
    app.inject({ method: "POST", url: "/", payload, remoteAddress, headers: { "content-type": "text/plain" } });
  const large = Array.from({ length: 10 }, () => send(text, "192.0.2.1"));
  let isReceiving = true;
  const allReceived = Promise.all(large).finally(() => {
    isReceiving = false;
  });
  expect((await send("a", "192.0.2.2")).body).toBe("1");
  expect(isReceiving).toBe(true);
  expect(new Set((await allReceived).map(({ body }) => body))).toEqual(new Set([String(text.length)]));
});

test("a server that closes delays nothing", async () => {
  const app = fastify();
  paceRefusals(app);
  const refused = Array.from({ length: 200 }, () => app.inject("/unknown"));
  await Promise.all(refused.slice(0, 100));
  await app.close();
  expect(new Set((await Promise.all(refused)).map(({ statusCode }) => statusCode))).toEqual(new Set([404]));
});
