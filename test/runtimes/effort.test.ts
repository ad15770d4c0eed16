import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Effort } from "../../src/contract/effort.ts";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import type { JsonObject } from "../../src/models/wires/wire.ts";
import type { TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { runtimes as all, providerOf, providersAt } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes ask their models to reason as much as an agent or a message says.

/** gemini-cli has no setting for it. */
const runtimes = all.filter(({ abilities }) => abilities.effort === true);
const models = ["claude-opus-4-6", "claude-sonnet-4-6", "gpt-5", "gpt-5.2"];
let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  provider = await DemoServer.start(models);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(providersAt(proxy.url), { runtimes, packages: await guestPackages() });
  client = service.client;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

describe.each(runtimes.map(({ name }) => name))("%s", (runtime) => {
  const agent = `thinking-${runtime}`;
  const [model, other] =
    providerOf(runtime) === "openai"
      ? ["openai/gpt-5", "openai/gpt-5.2"]
      : ["anthropic/claude-opus-4-6", "anthropic/claude-sonnet-4-6"];

  /** The effort in the last model call of a turn. */
  async function asked(effort?: Effort): Promise<unknown> {
    proxy.requests.length = 0;
    const answer = await client.fetch("POST", `/agents/${agent}/chat`, {
      message: "Hello",
      ...(effort && { effort }),
    });
    expect(await answer.text()).toContain("response.completed");
    const { body } = proxy.asked.at(-1)!;
    return effortIn(body);
  }

  test("the agent's effort counts, a message's own before it, and null is the default again", async () => {
    await client.createAgent(agent, { runtime, model });
    const usual = await asked();
    expect((await client.call("PATCH", `/agents/${agent}`, { effort: "low" })).body.effort).toBe("low");
    expect(await asked()).toBe("low");
    expect(await asked("high")).toBe("high");
    expect(await asked()).toBe("low");
    await client.call("PATCH", `/agents/${agent}`, { model: other });
    expect(await asked()).toBe("low");
    await client.call("POST", `/agents/${agent}/reset`);
    expect(await asked("medium")).toBe("medium");
    await client.call("PATCH", `/agents/${agent}`, { model, effort: null });
    expect(await asked()).toBe(usual);
  });

  test("a level that the model lacks is not an error", async () => {
    await client.call("PATCH", `/agents/${agent}`, { model: other });
    // Each turn has to complete.
    for (const effort of ["none", "minimal", "xhigh", "max"] as const) await asked(effort);
  });
});

function effortIn(body: JsonObject): unknown {
  const { effort } = (body.output_config ?? body.reasoning ?? {}) as JsonObject;
  return effort;
}
