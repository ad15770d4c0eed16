import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { Provider } from "../../src/models/provider.ts";
import {
  anthropic,
  beginning,
  ending,
  hello,
  mockUrl,
  NotedTurn,
  post,
  refusing,
  scripted,
  sse,
  streaming,
  uplinkTo,
  upstream,
} from "../support/model-gateway.ts";

test("a call goes through to a server that speaks Anthropic's API, streamed and whole", async () => {
  const session = await uplinkTo({ anthropic: anthropic(mockUrl) });
  const whole = await post(session, "/anthropic/v1/messages", hello);
  expect(whole.status).toBe(200);
  expect(JSON.parse(whole.text).content[0].text).toBe("Hello from the mock model.");
  const streamed = await post(session, "/anthropic/v1/messages?beta=true", { ...hello, stream: true });
  expect(streamed.headers["content-type"]).toContain("text/event-stream");
  const deltas = [...streamed.text.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, delta]) => delta);
  expect(deltas.join("")).toBe("Hello from the mock model.");
});

test("the provider gets its own key and none of the guest's credentials or ids; its refusal is passed on", async () => {
  const { url, requests } = await scripted(refusing(529, "busy", { "retry-after": "7" }));
  const session = await uplinkTo({ anthropic: anthropic(url) }, { settings: { instructions: "Be kind." } });
  const metadata = { user_id: "user_of_the_template_session_1" };
  const answer = await post(session, "/anthropic/v1/messages?beta=true", { ...hello, metadata, system: "You are X." });
  expect(answer.status).toBe(529);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { type: "some_error", message: "busy" } });
  expect(answer.headers["retry-after"]).toBe("7");
  expect(answer.headers["set-cookie"]).toBeUndefined();
  expect(requests).toHaveLength(1);
  expect(requests[0]!.path).toBe("/v1/messages?beta=true");
  expect(requests[0]!.headers["x-api-key"]).toBe("the-key");
  expect(JSON.stringify(requests[0])).not.toMatch(/from-the-guest|of_the_template/);
  expect(requests[0]!.body).toEqual({
    ...hello,
    metadata: { user_id: "agent-1" },
    system: [
      { type: "text", text: "You are X." },
      { type: "text", text: "Be kind." },
    ],
  });
});

test.each([
  [
    "/openai/v1/chat/completions",
    { model: "m", stream: true, user: "u", messages: [{ role: "system", content: "You are X." }] },
    {
      model: "m",
      stream: true,
      user: "agent-1",
      stream_options: { include_usage: true },
      messages: [{ role: "system", content: "You are X.\n\nBe kind." }],
    },
  ],
  [
    "/openai/v1/chat/completions",
    { model: "m", messages: [{ role: "user", content: "hello" }] },
    {
      model: "m",
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "hello" },
      ],
    },
  ],
  [
    "/openai/v1/responses",
    { model: "m", prompt_cache_key: "session", instructions: "You are X.", input: "hello" },
    { model: "m", prompt_cache_key: "agent-1", instructions: "You are X.\n\nBe kind.", input: "hello" },
  ],
])("%s is passed with instructions and the agent's own name", async (path, sent, got) => {
  const { url, requests } = await scripted(refusing(400, "enough"));
  const session = await uplinkTo(
    { openai: upstream("openai", `${url}/v1`) },
    { settings: { instructions: "Be kind." } },
  );
  await post(session, path, sent);
  expect(requests[0]!.body).toEqual(got);
  expect(requests[0]!.path).toBe(path.replace("/openai", ""));
  expect(requests[0]!.headers.authorization).toBe("Bearer the-key");
});

test.each([
  ["GET", "/anthropic/v1/messages"],
  ["POST", "/anthropic/v1/files"],
  ["POST", "/anthropic/v1/../v1/organizations"],
  ["POST", "/openai/v1/files"],
  ["POST", "/"],
])("%s %s is not offered to agents", async (method, path) => {
  const { url, requests } = await scripted(refusing(500, "reached"));
  const session = await uplinkTo({ anthropic: anthropic(url), openai: upstream("openai", url) });
  const answer = await post(session, path, hello, method);
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.text).error.message).toMatch(/not available to agents/);
  expect(requests).toEqual([]);
});

test("where there is no web, as for a template, nothing is connected", async () => {
  const session = await uplinkTo({});
  const stream = session.request({ ":method": "CONNECT", ":authority": "example.com:443" }, { endStream: false });
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  stream.close();
  expect(headers[":status"]).toBe(404);
});

test("a provider without a key is reported as such; an agent of the demo model reaches no other", async () => {
  const { url, requests } = await scripted(refusing(500, "reached"));
  const session = await uplinkTo({ anthropic: anthropic(url) });
  const answer = await post(session, "/openai/v1/chat/completions", hello);
  expect(answer).toMatchObject({ status: 404, text: expect.stringContaining("There is no provider openai here.") });
  const demonstration = await uplinkTo({ anthropic: anthropic(url) }, { settings: { model: "demo/demo" } });
  expect((await post(demonstration, "/anthropic/v1/messages", hello)).text).toContain("demonstration model");
  expect(requests).toEqual([]);
});

test("a provider that cannot be reached is an error in its own shape", async () => {
  const session = await uplinkTo({ anthropic: anthropic("http://127.0.0.1:1") });
  const answer = await post(session, "/anthropic/v1/messages", hello);
  expect(answer.status).toBe(502);
  expect(JSON.parse(answer.text).error.message).toMatch(/cannot be reached \(ECONNREFUSED\)/);
  expect(answer.text).not.toContain("the-key");
});

test("an answer passes byte for byte, and its tokens are counted as they come", async () => {
  const { url } = await scripted(streaming(beginning + ending));
  const turn = new NotedTurn();
  const answer = await post(await uplinkTo({ anthropic: anthropic(url) }, { turn }), "/anthropic/v1/messages", hello);
  expect(answer.text).toBe(beginning + ending);
  expect(turn.sum).toEqual({ input: 15, cacheRead: 5, output: 7 });
  expect(turn.answers).toBe(1);
  expect(turn.refusals).toEqual([]);
});

test("within a turn a passing refusal is asked again, as the provider wishes, and nobody sees it", async () => {
  const { url, requests } = await scripted(
    refusing(429, "slow", { "retry-after": "1" }),
    streaming(beginning + ending),
  );
  const turn = new NotedTurn();
  const answer = await post(await uplinkTo({ anthropic: anthropic(url) }, { turn }), "/anthropic/v1/messages", hello);
  expect(answer.text).toBe(beginning + ending);
  expect(requests).toHaveLength(2);
  expect(turn.refusals).toEqual([]);
});

test.each([
  ["400", refusing(400, "prompt is too long"), "model_request_refused", /\(400\): prompt is too long\.$/],
  ["400 of money", refusing(400, "Your credit balance is too low"), "model_unpaid", /payment.*credit balance/],
  ["401", refusing(401, "invalid key sk-123"), "model_credentials_refused", /key \(401\)\.$/],
  ["402", refusing(402, "pay"), "model_unpaid", /\(402\): pay/],
  ["403", refusing(403, "no"), "model_credentials_refused", /\(403\)\.$/],
  ["404", refusing(404, "no model m"), "model_not_available", /no model m/],
  ["429", refusing(429, "slow"), "model_rate_limited", /slow/],
  ["429 for long", refusing(429, "slow", { "retry-after": "60" }), "model_rate_limited", /again in 60 s/],
  ["500", refusing(500, "oops"), "model_failed", /oops/],
  ["529", refusing(529, "Overloaded"), "model_overloaded", /Overloaded/],
  ["nothing", () => {}, "model_stalled", /nothing for 1 s/],
  ["half an answer", streaming(beginning, (response) => response.destroy()), "model_interrupted", /was cut off/],
  ["an answer without an end", streaming(beginning), "model_interrupted", /was cut off/],
  ["half an answer and silence", streaming(beginning, () => {}), "model_stalled", /nothing for/],
  [
    "an error within the answer",
    streaming(beginning + sse({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })),
    "model_overloaded",
    /Overloaded/,
  ],
])("%s ends the turn with its reason, and the guest does not learn it", async (what, answers, code, message) => {
  const { url } = await scripted(answers);
  const turn = new NotedTurn();
  const session = await uplinkTo({ anthropic: anthropic(url) }, { turn });
  // An interrupted runtime hangs up.
  turn.interrupted.addEventListener("abort", () => setTimeout(() => session.destroy(new Error("interrupted")), 50));
  const answer = await post(session, "/anthropic/v1/messages", hello).catch((error: Error) => error);
  expect(turn.refusals).toEqual([{ code, message: expect.stringMatching(message), recoverable: what === "400" }]);
  if (what === "400") expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("too long") });
  else expect(JSON.stringify(answer)).not.toMatch(/Overloaded|oops|slow|pay/);
});

test("during a tool, or outside of a turn, the guest gets the error", async () => {
  const { url } = await scripted(refusing(404, "no model m"));
  for (const turn of [new NotedTurn({}, true), null]) {
    const answer = await post(await uplinkTo({ anthropic: anthropic(url) }, { turn }), "/anthropic/v1/messages", hello);
    expect(answer).toMatchObject({ status: 404, text: expect.stringContaining("no model m") });
  }
});

test("a guest that hangs up ends the call to the provider", async () => {
  const aborted = Promise.withResolvers<void>();
  const provider: Provider = async ({ signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    return {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: (async function* () {
        yield "one";
        await aborted.promise;
      })(),
    };
  };
  const session = await uplinkTo({ anthropic: provider });
  const stream = session.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
  stream.end("{}");
  await once(stream, "data");
  stream.close();
  await aborted.promise;
});

test("an answer is not made in the background, where nobody counts it", async () => {
  const { url, requests } = await scripted(refusing(400, "enough"));
  const session = await uplinkTo({ openai: upstream("openai", url) });
  await post(session, "/openai/v1/responses", { model: "m", input: "hello", background: true });
  expect(requests[0]!.body).toEqual({ model: "m", input: "hello", background: false });
});

test("a provider's message about the key does not reach the guest", async () => {
  const { url } = await scripted(refusing(401, "Incorrect API key provided: the-key"));
  const answer = await post(await uplinkTo({ anthropic: anthropic(url) }), "/anthropic/v1/messages", hello);
  expect(answer).toMatchObject({ status: 401, text: expect.stringContaining("authentication_error") });
  expect(answer.text).not.toContain("the-key");
});

test("a request that is too large is refused with the reason", async () => {
  const session = await uplinkTo({ anthropic: anthropic(mockUrl) });
  const refused = await post(session, "/anthropic/v1/messages", { ...hello, system: "x".repeat(33 * 1024 * 1024) });
  expect(refused.status).toBe(413);
  expect(JSON.parse(refused.text).error.message).toContain("32 MiB");
});

test("a request whose body does not come is given up, and its place with it", async () => {
  const session = await uplinkTo({ anthropic: anthropic(mockUrl) });
  const asked = { ":method": "POST", ":path": "/anthropic/v1/messages", "content-length": "100" };
  const stream = session.request(asked);
  stream.write("{");
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  expect([headers[":status"], await text(stream)]).toEqual([408, expect.stringContaining("arrive")]);
  await once(stream, "close");
  expect((await post(session, "/anthropic/v1/messages", hello)).status).toBe(200);
});

test("a machine makes so many calls at once, and the next when one of them is over", async () => {
  const session = await uplinkTo({ anthropic: anthropic(mockUrl) });
  const begin = () => {
    const stream = session.request({ ":method": "POST", ":path": "/anthropic/v1/messages" });
    stream.on("error", () => {}).write("{");
    return stream;
  };
  const [first] = Array.from({ length: 16 }, begin);
  await expect.poll(async () => (await post(session, "/anthropic/v1/messages", hello)).status).toBe(429);
  const refused = await post(session, "/openai/v1/chat/completions", { ...hello, system: "x".repeat(1e6) });
  expect(refused).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
  expect(JSON.parse(refused.text).error.message).toContain("16 model calls");
  first!.close(8);
  await expect.poll(async () => (await post(session, "/anthropic/v1/messages", hello)).status).toBe(200);
});
