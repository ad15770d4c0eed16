import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { usualProvider } from "../../src/providers/directory.ts";
import type { TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { type Fault, ModelProxy } from "../support/model-proxy.ts";
import { providersAt, runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes, each as a process of this host, and a model that refuses in every way that models do.

const reply = "The mock model says good morning and wishes you a pleasant day.";
const mock = new LLMock({ port: 0, chunkSize: 8 });
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  mock.onMessage(/.*/, { content: reply });
  proxy = await new ModelProxy(await mock.start()).listen();
  service = await ScriptedService.start(
    {
      ...providersAt(proxy.url),
      modelSilenceMs: 3_000,
      modelRetryMs: 2_000,
    },
    { runtimes, packages: await guestPackages() },
  );
  client = service.client;
});
beforeEach(() => {
  proxy.fault = () => null;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await mock.stop();
});

const refusals: [name: string, fault: Fault, code: string, message: RegExp][] = [
  ["400", { status: 400, body: { error: { message: "max_tokens: too many" } } }, "model_request_refused", /too many/],
  [
    "400 of money",
    { status: 400, body: { error: { message: "Your credit balance is too low" } } },
    "model_unpaid",
    /balance/,
  ],
  ["401", { status: 401 }, "model_credentials_refused", /\(401\)/],
  ["402", { status: 402 }, "model_unpaid", /\(402\)/],
  ["403", { status: 403 }, "model_credentials_refused", /\(403\)/],
  ["404", { status: 404 }, "model_not_available", /\(404\)/],
  ["429", { status: 429 }, "model_rate_limited", /\(429\)/],
  ["429 for a minute", { status: 429, headers: { "retry-after": "60" } }, "model_rate_limited", /again in 60 s/],
  ["500", { status: 500 }, "model_failed", /\(500\)/],
  ["529", { status: 529 }, "model_overloaded", /\(529\)/],
  ["an answer that breaks off", "break", "model_interrupted", /was cut off/],
  ["an answer that ends in an error", "error", "model_overloaded", /Overloaded/],
  ["no answer", "stall", "model_stalled", /nothing for 3 s/],
  ["an answer that stops midway", "stall-midway", "model_stalled", /nothing for 3 s/],
];

const models = {
  anthropic: "anthropic/claude-3-5-sonnet-20241022",
  openai: "openai/gpt-4o",
  google: "google/gemini-2.5-flash",
};

/** A runtime over one provider's API. */
const cases = runtimes.flatMap(({ name, wires }) =>
  [...new Set(wires.map(usualProvider))].map((provider) => ({
    name: `${name} over ${provider}`,
    agent: `${name}-${provider}`,
    fields: {
      runtime: name,
      model: models[provider],
    },
  })),
);

describe.each(cases)("$name", ({ agent, fields }) => {
  beforeAll(async () => {
    expect((await client.createAgent(agent, fields)).body).toMatchObject({ status: "ready" });
    expect(await client.ask(agent, "Good morning.")).toBe(reply);
  });

  test.each(refusals)(
    "%s ends the turn with its reason, and the next turn works",
    async (_name, fault, code, message) => {
      proxy.fault = () => fault;
      const { events, text } = await client.chat(agent, "Good morning.");
      expect(events.at(-1)!.event).toMatchObject({
        type: "response.failed",
        error: { code, message: expect.stringMatching(message) },
      });
      // Nothing but the beginning of what the model said, and once.
      expect(reply.startsWith(text)).toBe(true);
      proxy.fault = () => null;
      const next = await client.chat(agent, "And now?");
      expect(next.events.at(-1)!.event.type).toBe("response.completed");
      expect(next.text).toBe(reply);
    },
  );

  test("a connection that is refused ends the turn with its reason, and the next turn works", async () => {
    await proxy.pause();
    const { events, text } = await client.chat(agent, "Good morning.").finally(() => proxy.resume());
    expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "model_unreachable" } });
    expect(text).toBe("");
    expect(await client.ask(agent, "And now?")).toBe(reply);
  });

  test("a passing refusal is not seen at all", async () => {
    let asked = 0;
    proxy.fault = () => (++asked === 1 ? { status: 529 } : null);
    const { events, text } = await client.chat(agent, "Good morning.");
    expect(events.at(-1)!.event.type).toBe("response.completed");
    expect(text).toBe(reply);
    expect(asked).toBe(2);
  });

  test("cancelling aborts the call to the model, and the next turn works", async () => {
    proxy.fault = () => "stall-midway";
    proxy.requests.length = 0;
    const response = await client.fetch("POST", `/agents/${agent}/chat`, { message: "Good morning." });
    await expect.poll(() => proxy.asked.length).toBeGreaterThan(0);
    const turnId = response.headers.get("x-turn-id");
    expect((await client.call("POST", `/agents/${agent}/turns/${turnId}/cancel`)).status).toBe(202);
    expect(await response.text()).toContain('"type":"response.cancelled"');
    await expect.poll(() => proxy.asked.at(-1)!.aborted).toBe(true);
    proxy.fault = () => null;
    expect(await client.ask(agent, "And now?")).toBe(reply);
  });
});
