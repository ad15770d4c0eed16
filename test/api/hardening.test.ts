import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ErrorBody } from "../../src/contract/agents.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

const origin = "https://dashboard.example";

let service: ScriptedService;
let client: TestClient;
beforeAll(async () => {
  service = await ScriptedService.start({
    corsOrigins: [origin],
    maximumStreams: 2,
    trustedProxies: ["127.0.0.1"],
    rateLimits: { requests: 0, account: 0, address: 3, agents: 0, keys: 0, hooks: 0 },
  });
  client = service.client;
  await client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

test("every answer, a stream's too, tells browsers to do nothing with it", async () => {
  const stream = await client.fetch("POST", "/agents/ada/chat", { message: "hello" });
  await stream.text();
  for (const { headers } of [await client.call("GET", "/agents"), await client.call("GET", "/nothing"), stream]) {
    expect(headers.get("content-security-policy")).toBe("default-src 'none';frame-ancestors 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-powered-by")).toBeNull();
  }
});

test("a page of a configured origin may call, and no other", async () => {
  const preflight = (from: string) =>
    fetch(`${client.url}/agents`, {
      method: "OPTIONS",
      headers: {
        origin: from,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      },
    });
  const allowed = await preflight(origin);
  expect(allowed.status).toBe(204);
  expect(allowed.headers.get("access-control-allow-origin")).toBe(origin);
  expect((await preflight("https://evil.example")).headers.get("access-control-allow-origin")).toBeNull();
  const called = await client.call("GET", "/agents", undefined, { origin });
  expect(called.headers.get("access-control-allow-origin")).toBe(origin);
  expect(called.headers.get("access-control-expose-headers")).toContain("x-turn-id");
  expect((await client.call("PUT", "/agents")).status).toBe(405);
  await using plain = await ScriptedService.start();
  const none = await plain.client.call("GET", "/agents", undefined, { origin });
  expect(none.headers.get("access-control-allow-origin")).toBeNull();
});

test("a key has so many streams open at once, and one that ends makes room", async () => {
  const open = () => client.fetch("GET", "/agents/ada/logs?follow=true");
  const [first, second] = [await open(), await open()];
  const refused = await client.call("POST", "/agents/ada/chat", { message: "hello" });
  expect(refused).toMatchObject({ status: 429, body: { code: "too_many_streams" } });
  expect(
    (await client.call("GET", "/agents/ada/turns")).body.data.map(({ message }: { message: string }) => message),
  ).toEqual(["hello"]);
  await first.body!.cancel();
  await expect
    .poll(async () => {
      const reply = await client.fetch("POST", "/agents/ada/chat", { message: "hello again" });
      if (reply.status !== 200) return reply.status;
      await Array.fromAsync(eventsOf(reply));
      return 200;
    })
    .toBe(200);
  await second.body!.cancel();
});

async function answerTo(bytes: string): Promise<{ status: number; body: ErrorBody }> {
  const socket = connect(Number(new URL(client.url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.write(bytes);
  const answer = await text(socket);
  const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)) as unknown;
  return { status: Number(/^HTTP\/1.1 (\d+)/.exec(answer)![1]), body: ErrorBody.parse(body) };
}

test("a response that its client waits for counts as a stream", async () => {
  const waiting = client.call("POST", "/v1/responses", { model: "ada", input: "hang" });
  const newest = async () => (await client.call("GET", "/agents/ada/turns?limit=1")).body.data[0];
  await expect.poll(async () => (await newest()).message).toBe("hang");
  const open = () => client.fetch("GET", "/agents/ada/logs?follow=true");
  const [first, second] = [await open(), await open()];
  expect([first.status, second.status]).toEqual([200, 429]);
  await Promise.all([first.body!.cancel(), second.body!.cancel()]);
  await client.call("POST", `/agents/ada/turns/${(await newest()).id}/cancel`);
  expect((await waiting).body.status).toBe("cancelled");
});

test("headers without an end, and too many of them, are answered and closed", async () => {
  const large = `GET /agents HTTP/1.1\r\nhost: x\r\nx-large: ${"x".repeat(20_000)}\r\n\r\n`;
  expect(await answerTo(large)).toMatchObject({ status: 431, body: { code: "headers_too_large" } });
  const slow = "POST /agents HTTP/1.1\r\nhost: x\r\nx-slow:";
  expect(await answerTo(slow)).toMatchObject({ status: 408, body: { code: "request_timeout" } });
});

test("a proxy that is trusted says which address asks", async () => {
  const from = (address: string) =>
    client.call("GET", "/agents", undefined, { authorization: "Bearer x", "x-forwarded-for": address });
  for (const status of [401, 401, 401, 429]) expect((await from("192.0.2.1")).status).toBe(status);
  expect((await from("192.0.2.2")).status).toBe(401);
});
