import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { eventsOf, messageNumberIn, type TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { modelOf, otherModelOf, providersAt, realModels, runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes, each as a process of this host, before a model that counts the messages that it is sent.

let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
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
  const agent = `talking-${runtime}`;
  const model = modelOf(runtime);

  beforeAll(async () => {
    const created = await client.createAgent(agent, { runtime, model });
    expect(created.body).toMatchObject({ status: "ready" });
  });

  /** The number of the message in its conversation, and everything that the model was sent. */
  async function ask(conversation: number, message: string): Promise<{ number: number; sent: string }> {
    proxy.requests.length = 0;
    const response = await client.fetch("POST", `/agents/${agent}/chat`, { message, conversation });
    const events = (await Array.fromAsync(eventsOf(response))).map(({ event }) => event);
    expect(events.at(-1)).toMatchObject({ type: "response.completed" });
    const text = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
    return { number: messageNumberIn(text), sent: JSON.stringify(proxy.asked.map(({ body }) => body)) };
  }

  test("conversations alternate, and each remembers only its own messages", async () => {
    expect((await client.call("POST", `/agents/${agent}/conversations`, {})).body.id).toBe(2);
    expect((await ask(1, "My cat is called Miez.")).number).toBe(1);
    const other = await ask(2, "My dog is called Rex.");
    expect(other.number).toBe(1);
    expect(other.sent).not.toContain("Miez");
    const back = await ask(1, "And the cat?");
    expect(back.number).toBe(2);
    expect(back.sent).toContain("Miez");
    expect(back.sent).not.toContain("Rex");
    const again = await ask(2, "And the dog?");
    expect(again.number).toBe(2);
    expect(again.sent).toContain("Rex");
    expect(again.sent).not.toContain("Miez");
  });

  test("the model of the agent holds in each conversation", async () => {
    await client.call("PATCH", `/agents/${agent}`, { model: otherModelOf(runtime) });
    for (const conversation of [2, 1]) {
      await ask(conversation, "Which model?");
      const models = proxy.asked.filter(({ body }) => !body.messages?.[0]?.content?.includes?.("quota"));
      expect(new Set(models.map(({ body }) => body.model))).toEqual(new Set([otherModelOf(runtime).split("/")[1]]));
    }
  });

  test("a restart of the runtime and the runner keeps each", async () => {
    expect((await client.restartAgent(agent)).body.status).toBe("ready");
    const first = await ask(2, "After the restart");
    expect(first.number).toBe(4);
    expect(first.sent).not.toContain("Miez");
    const second = await ask(1, "After the restart");
    expect(second.number).toBe(4);
    expect(second.sent).not.toContain("Rex");
  });

  test("a reset begins an empty one, and the earlier one continues", async () => {
    expect((await client.call("POST", `/agents/${agent}/conversation/reset`)).body.conversation).toBe(3);
    expect((await client.restartAgent(agent)).body.status).toBe("ready");
    expect((await ask(3, "Fresh")).number).toBe(1);
    expect((await ask(1, "Back again")).number).toBe(5);
    expect((await ask(3, "Fresh again")).number).toBe(2);
  });

  test("a conversation continues from a turn of another, without what came later", async () => {
    const { body } = await client.call("GET", `/agents/${agent}/turns?conversation=2&limit=100`);
    const [first] = body.data.toReversed();
    expect(first.message).toBe("My dog is called Rex.");
    const forked = await client.call("POST", `/agents/${agent}/conversations`, { from: { turn: first.id } });
    expect(forked.body).toMatchObject({ id: 4, forkedFrom: { conversation: 2, turnId: first.id } });
    for (const number of [1, 2]) {
      const answered = await ask(4, "What is the dog called?");
      expect(answered.number).toBe(number);
      expect(answered.sent).toContain("User: My dog is called Rex.");
      expect(answered.sent).not.toContain("And the dog?");
      expect(answered.sent).not.toContain("Miez");
    }
  });
});
