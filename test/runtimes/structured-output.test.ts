import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { modelOf, providersAt, realModels, runtimes, toolsIn, toolUse } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes, each as a process of this host, with a model that calls the tool for the output, or does not.

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

const schema = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 }, tags: { $ref: "#/$defs/tags" } },
  required: ["name", "age"],
  additionalProperties: false,
  $defs: { tags: { type: "array", items: { type: "string" } } },
};
const ada = { name: "Ada", age: 36, tags: ["mathematician"] };

/** Answers the next requests that offer the tool with calls of it; null: as the demonstration model does. */
function answerWith(runtime: string, inputs: (object | null)[]): void {
  proxy.fault = ({ body }) => {
    const tool = toolsIn(body).find(({ name }) => name.endsWith("give_output"));
    const input = tool ? inputs.shift() : null;
    if (!tool || !input) return null;
    return toolUse(runtime, tool.name, input);
  };
}

describe.each(runtimes.map(({ name }) => name))("%s", (runtime) => {
  const agent = `giving-${runtime}`;
  /** It refuses what does not match the schema before the call reaches the runner, in its own words. */
  const checksFirst = ["openclaw", "pi", "gemini-cli"].includes(runtime);

  beforeAll(async () => {
    await client.createAgent(agent, { runtime, model: modelOf(runtime) });
  });

  async function say(message: string, more: object = { output: { schema } }) {
    const response = await client.fetch("POST", `/agents/${agent}/chat`, { message, include: ["tools"], ...more });
    const events = (await Array.fromAsync(eventsOf(response))).map(({ event }) => event);
    const said = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
    return { last: events.at(-1)!, said, events };
  }

  /** The last request of a turn to the model, as JSON. */
  const asked = () => {
    const { body } = proxy.asked.findLast(({ body }) => body.tools?.length > 0)!;
    return { tools: toolsIn(body), text: JSON.stringify(body.messages ?? body.input ?? body.contents) };
  };

  test("has the caller's schema as a tool, and gives the output", async () => {
    answerWith(runtime, [ada]);
    const { last } = await say("Who was it?");
    expect(last).toEqual({ type: "response.completed", output: ada });
    const tool = asked().tools.find(({ name }) => name.endsWith("give_output"))!;
    const { $defs, ...rest } = schema;
    const resolved = { ...rest, properties: { ...schema.properties, tags: $defs.tags } };
    // Codex leaves bounds out.
    const { age, ...properties } = schema.properties;
    const shown = runtime === "codex" ? { ...schema, properties: { ...properties, age: { type: age.type } } } : schema;
    // OpenClaw resolves references.
    expect(tool.schema).toMatchObject(runtime === "openclaw" ? resolved : shown);
  });

  test("repairs an invalid output", async () => {
    answerWith(runtime, [{ name: "Ada", age: -1 }, ada]);
    expect((await say("And again?")).last).toEqual({ type: "response.completed", output: ada });
    expect(asked().text).toMatch(checksFirst ? /age:? (must be|expected) >= 0/ : "/age must be >= 0");
  });

  test.skipIf(checksFirst)("fails after two invalid outputs, and answers the next message", async () => {
    answerWith(runtime, [{ name: "Ada" }, { age: "36" }, ada, ada]);
    const { last } = await say("And once more?");
    expect(last).toMatchObject({ type: "response.failed", error: { code: "output_invalid" } });
    answerWith(runtime, []);
    const { last: next, said } = await say("Good morning.", {});
    expect(next).toEqual({ type: "response.completed" });
    expect(said).toContain("Good morning.");
  });

  test("is asked once more for an output that it did not give", async () => {
    answerWith(runtime, [null, ada]);
    expect((await say("Say it first.")).last).toEqual({ type: "response.completed", output: ada });
    expect(asked().text).toContain("You have ended your turn without a call");
  });

  test("fails when it never gives one", async () => {
    answerWith(runtime, []);
    expect((await say("Never.")).last).toMatchObject({ error: { code: "output_missing" } });
  });

  // OpenClaw enforces no permissions.
  test.skipIf(runtime === "openclaw")("gives it without an approval, even where all tools are denied", async () => {
    const all = { read: "deny", edit: "deny", execute: "deny", fetch: "deny", mcp: "deny", other: "deny" };
    expect((await client.call("PATCH", `/agents/${agent}`, { permissions: all })).status).toBe(200);
    answerWith(runtime, [ada]);
    expect((await say("Quietly.")).last).toEqual({ type: "response.completed", output: ada });
  });
});
