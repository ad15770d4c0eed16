import { expect, test } from "vitest";
import {
  anthropic,
  beginning,
  ending,
  hello,
  NotedTurn,
  Purse,
  post,
  refusing,
  scripted,
  streamed,
  streaming,
  uplinkTo,
  upstream,
} from "../support/model-gateway.ts";

// Models that answer in place of the agent's: of the same API, and never in the middle of an answer.

const path = "/anthropic/v1/messages";
const fallbackModels = ["openai/gpt-5", "anthropic/second", "anthropic/third"];
const settings = { model: "anthropic/first", fallbackModels };
const whole = streaming(beginning + ending);

test.each([
  ["overloaded", refusing(529, "Overloaded"), "model_overloaded"],
  ["rate limited", refusing(429, "Slow down", { "retry-after": "60" }), "model_rate_limited"],
  ["failing", refusing(500, "Oh no"), "model_failed"],
  ["out of reach", (response: { destroy(): void }) => response.destroy(), "model_unreachable"],
  ["silent", () => {}, "model_stalled"],
] as const)("where the model is %s, the next of the same API answers and is paid", async (_case, answer, code) => {
  const { url, requests } = await scripted(answer as never, whole);
  const [turn, payer] = [new NotedTurn(settings), new Purse()];
  const providers = { anthropic: anthropic(url), openai: upstream("openai", "http://127.0.0.1:9") };
  const session = await uplinkTo(providers, { turn, payer });
  const { status, text } = await post(session, path, { ...streamed(), model: "first" });
  expect([status, text]).toEqual([200, beginning + ending]);
  expect(requests.map(({ body }) => body.model)).toEqual(["first", "second"]);
  expect([turn.fallbacks, turn.refusals]).toEqual([[`anthropic/first > anthropic/second: ${code}`], []]);
  await expect
    .poll(() => payer.paid.map(({ model, micro }) => [model, micro > 0]))
    .toEqual([
      ["anthropic/first", false],
      ["anthropic/second", true],
    ]);
  expect(payer.held).toBe(0);
});

test("a model that has failed rests, and each turn is warned", async () => {
  const { url, requests } = await scripted(refusing(503, "away"), whole);
  const first = new NotedTurn(settings);
  const providers = { anthropic: anthropic(url) };
  const session = await uplinkTo(providers, { turn: first });
  await post(session, path, { ...streamed(), model: "first" });
  await post(session, path, { ...streamed(), model: "first" });
  expect(requests.map(({ body }) => body.model)).toEqual(["first", "second", "second"]);
  expect(first.fallbacks).toEqual(Array(2).fill("anthropic/first > anthropic/second: model_overloaded"));
});

test("a large request goes to the next model whole", async () => {
  const { url, requests } = await scripted(refusing(529, "Overloaded"), whole);
  const session = await uplinkTo({ anthropic: anthropic(url) }, { turn: new NotedTurn(settings) });
  const system = "x".repeat(512 * 1024);
  expect((await post(session, path, { ...streamed(), model: "first", system })).status).toBe(200);
  expect(requests.map(({ body }) => [body.model, String(body.system).length])).toEqual([
    ["first", system.length],
    ["second", system.length],
  ]);
});

test.each([
  ["a refused request", refusing(400, "too long"), 400],
  ["a refused key", refusing(401, "no"), 401],
])("%s goes to no other model", async (_case, answer, status) => {
  const { url, requests } = await scripted(answer, whole);
  const session = await uplinkTo({ anthropic: anthropic(url) }, { turn: new NotedTurn(settings, true) });
  expect((await post(session, path, { ...hello, model: "first" })).status).toBe(status);
  expect(requests).toHaveLength(1);
});

test("an answer that has begun is not continued by another model", async () => {
  const { url, requests } = await scripted(
    streaming(beginning, (response) => void response.destroy()),
    whole,
  );
  const turn = new NotedTurn(settings);
  const session = await uplinkTo({ anthropic: anthropic(url) }, { turn });
  const stream = session.request({ ":method": "POST", ":path": path });
  stream.on("error", () => {}).end(JSON.stringify({ ...streamed(), model: "first" }));
  await expect.poll(() => turn.refusals.map(({ code }) => code)).toEqual(["model_interrupted"]);
  expect([requests.length, turn.fallbacks]).toEqual([1, []]);
});

test("where all models fail, the reason of the last ends the turn", async () => {
  const { url, requests } = await scripted(refusing(529, "Overloaded"), refusing(500, "Oh no"), refusing(403, "No"));
  const turn = new NotedTurn(settings);
  const session = await uplinkTo({ anthropic: anthropic(url) }, { turn });
  const stream = session.request({ ":method": "POST", ":path": path });
  stream.on("error", () => {}).end(JSON.stringify({ ...streamed(), model: "first" }));
  await expect.poll(() => turn.refusals.map(({ code }) => code)).toEqual(["model_credentials_refused"]);
  expect(requests.map(({ body }) => body.model)).toEqual(["first", "second", "third"]);
  expect(turn.fallbacks).toHaveLength(2);
});
