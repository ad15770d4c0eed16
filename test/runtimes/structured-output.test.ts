import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { runtimes } from "../../src/runtimes/all.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes, each as a process of this host, with a model that calls the tool for the output, or does not.

let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  provider = await DemoServer.start(["claude-sonnet-4-5"]);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(
    { anthropic: { baseUrl: proxy.url, apiKey: "the-key" } },
    { runtimes, packages: await guestPackages() },
  );
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

/** The answer of a model that uses a tool, as Anthropic's API streams it. */
function toolUse(name: string, input: object): string {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  const block = { type: "tool_use", id: `toolu_${randomUUID().replaceAll("-", "")}`, name, input: {} };
  const usage = { input_tokens: 9, output_tokens: 1 };
  return [
    { type: "message_start", message: { ...message, stop_sequence: null, usage } },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: JSON.stringify(input) } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}

interface Offered {
  name: string;
  input_schema: object;
}

/** Answers the next requests that offer the tool with calls of it; null: as the demonstration model does. */
function answerWith(inputs: (object | null)[]): void {
  proxy.fault = ({ body }) => {
    const tool = ((body.tools ?? []) as Offered[]).find(({ name }) => name.endsWith("give_output"));
    const input = tool ? inputs.shift() : null;
    if (!tool || !input) return null;
    return { status: 200, headers: { "content-type": "text/event-stream" }, text: toolUse(tool.name, input) };
  };
}

describe.each(["claude-code", "opencode", "openclaw"])("%s", (runtime) => {
  const agent = `giving-${runtime}`;
  /** It resolves references, and refuses what does not match the schema before the call reaches the runner. */
  const checksFirst = runtime === "openclaw";

  beforeAll(async () => {
    await client.createAgent(agent, { runtime, model: "anthropic/claude-sonnet-4-5" });
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
    return { tools: body.tools as Offered[], text: JSON.stringify(body.messages) };
  };

  test("has the caller's schema as a tool, and gives the output", async () => {
    answerWith([ada]);
    const { last } = await say("Who was it?");
    expect(last).toEqual({ type: "response.completed", output: ada });
    const tool = asked().tools.find(({ name }) => name.endsWith("give_output"))!;
    const { $defs, ...rest } = schema;
    const resolved = { ...rest, properties: { ...schema.properties, tags: $defs.tags } };
    expect(tool.input_schema).toMatchObject(checksFirst ? resolved : schema);
  });

  test("repairs an invalid output", async () => {
    answerWith([{ name: "Ada", age: -1 }, ada]);
    expect((await say("And again?")).last).toEqual({ type: "response.completed", output: ada });
    expect(asked().text).toContain(checksFirst ? "age: must be >= 0" : "/age must be >= 0");
  });

  test.skipIf(checksFirst)("fails after two invalid outputs, and answers the next message", async () => {
    answerWith([{ name: "Ada" }, { age: "36" }, ada, ada]);
    const { last } = await say("And once more?");
    expect(last).toMatchObject({ type: "response.failed", error: { code: "output_invalid" } });
    answerWith([]);
    const { last: next, said } = await say("Good morning.", {});
    expect(next).toEqual({ type: "response.completed" });
    expect(said).toContain("Good morning.");
  });

  test("is asked once more for an output that it did not give", async () => {
    answerWith([null, ada]);
    expect((await say("Say it first.")).last).toEqual({ type: "response.completed", output: ada });
    expect(asked().text).toContain("You have ended your turn without a call");
  });

  test("fails when it never gives one", async () => {
    answerWith([]);
    expect((await say("Never.")).last).toMatchObject({ error: { code: "output_missing" } });
  });

  // OpenClaw enforces no permissions.
  test.skipIf(checksFirst)("gives it without an approval, even where all tools are denied", async () => {
    const all = { read: "deny", edit: "deny", execute: "deny", fetch: "deny", mcp: "deny", other: "deny" };
    expect((await client.call("PATCH", `/agents/${agent}`, { permissions: all })).status).toBe(200);
    answerWith([ada]);
    expect((await say("Quietly.")).last).toEqual({ type: "response.completed", output: ada });
  });
});
