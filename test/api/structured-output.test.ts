import { once } from "node:events";
import { createServer } from "node:net";
import { Berth, TurnError } from "@berth/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { maximumSchemaBytes } from "../../src/contract/output.ts";
import { importArchive } from "../support/archives.ts";
import { type Answer, eventsOf, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;
let number = 0;
/** Each test has an agent of its own. */
let agent: string;

beforeAll(async () => {
  service = await ScriptedService.start();
});
beforeEach(async () => {
  client = service.client;
  agent = `agent-${++number}`;
  await client.createAgent(agent);
});
afterAll(() => service[Symbol.asyncDispose]());

const schema = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer", minimum: 0 } },
  required: ["name", "age"],
  additionalProperties: false,
};
const output = { schema };
const ada = { name: "Ada", age: 36 };
const give = (...values: object[]) => `give ${values.map((value) => JSON.stringify(value)).join(" | ")}`;
const accepted = "The output was accepted. End your turn now.";

interface Said {
  status: number;
  id: string;
  placed: string | null;
  events: TurnEvent[];
  said: string;
  body: Answer["body"];
}

async function chat(message: string, more: object = { output }, on = agent): Promise<Said> {
  const response = await client.fetch("POST", `/agents/${on}/chat`, { message, include: ["tools"], ...more });
  const [id, placed] = [response.headers.get("x-turn-id") ?? "", response.headers.get("x-berth-placed")];
  if (response.status !== 200)
    return { status: response.status, id, placed, events: [], said: "", body: await response.json() };
  const events = (await Array.fromAsync(eventsOf(response))).map(({ event }) => event);
  const said = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
  return { status: 200, id, placed, events, said, body: null };
}

const turn = async (id: string, of = agent) => (await client.call("GET", `/agents/${of}/turns/${id}`)).body;

describe("a turn with a schema", () => {
  test("ends with the output, which is in its last event and its record", async () => {
    const { id, events, said } = await chat(give(ada));
    expect(said).toBe(accepted);
    expect(events.at(-1)).toEqual({ type: "response.completed", output: ada });
    expect(await turn(id)).toMatchObject({ status: "completed", output: ada, reply: accepted, message: give(ada) });
    const { data } = (await client.call("GET", `/agents/${agent}/turns`)).body;
    expect(data[0].output).toEqual(ada);
  });

  test("repairs one invalid output, with the faults", async () => {
    const { events, said } = await chat(give({ name: 1, more: true }, ada));
    expect(said).toBe(
      `The output is invalid. Call the tool once more.
- it must have required property 'age'
- it must NOT have additional properties: more
- /name must be string
${accepted}`,
    );
    expect(events.at(-1)).toEqual({ type: "response.completed", output: ada });
  });

  test("fails after the second invalid output, with its faults", async () => {
    const { id, events } = await chat(give({ name: 1, age: 1 }, { name: "Ada", age: -1 }, ada));
    const error = {
      code: "output_invalid",
      message: "The agent's output does not match the schema: /age must be >= 0.",
      details: { issues: [{ field: "/age", message: "must be >= 0" }] },
    };
    expect(events.at(-1)).toEqual({ type: "response.failed", error });
    expect(await turn(id)).toMatchObject({ status: "failed", output: null, error });
    // The agent works on.
    expect((await chat(give(ada))).events.at(-1)).toMatchObject({ output: ada });
  });

  test("asks once more for an output that was not given", async () => {
    const { events, said } = await chat(`give later ${JSON.stringify(ada)}`);
    expect(said).toBe(`\n\n${accepted}`);
    expect(events.filter(({ type }) => type === "response.completed")).toEqual([
      { type: "response.completed", output: ada },
    ]);
  });

  test("fails when none is given", async () => {
    const { events, said } = await chat("hello there");
    expect(said).toMatch(/^hello there\n\nYou have ended your turn without a call/);
    expect(events.at(-1)).toMatchObject({ type: "response.failed", error: { code: "output_missing" } });
  });

  test("keeps the first valid output", async () => {
    const { events } = await chat(give(ada, { name: "Bob", age: 1 }, { name: 1 }));
    expect(events.at(-1)).toEqual({ type: "response.completed", output: ada });
  });

  test("can be cancelled, and fails as others do", async () => {
    const response = await client.fetch("POST", `/agents/${agent}/chat`, {
      message: "hang",
      include: ["status"],
      output,
    });
    const id = response.headers.get("x-turn-id")!;
    const events: TurnEvent[] = [];
    for await (const { event } of eventsOf(response)) {
      events.push(event);
      if (event.type === "response.in_progress") await client.call("POST", `/agents/${agent}/turns/${id}/cancel`);
    }
    expect(events.at(-1)!.type).toBe("response.cancelled");
    expect((await chat("crash")).events.at(-1)).toMatchObject({ error: { code: "runtime_failed" } });
  });

  test("may call its client's functions before", async () => {
    const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
    const format = { type: "json_schema", name: "person", schema };
    const body = { model: agent, input: "call look", tools, text: { format } };
    const first = (await client.call("POST", "/v1/responses", body)).body;
    const [call] = first.output.filter(({ type }: { type: string }) => type === "function_call");
    expect(call.name).toBe("look");
    const input = [{ type: "function_call_output", call_id: call.call_id, output: "seen" }];
    const second = (await client.call("POST", "/v1/responses", { ...body, input, previous_response_id: first.id }))
      .body;
    expect(second).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("without an output") },
    });
  });

  test("does not reach a later turn, whose tools are without it", async () => {
    await chat(give(ada));
    const { events, said } = await chat(give(ada), {});
    expect(said).toBe("There is no function give_output now.");
    expect(events.at(-1)).toEqual({ type: "response.completed" });
    expect((await turn((await chat("hi", {})).id)).output).toBeNull();
  });

  test("with an output that is too deep fails", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(70)}1${"}".repeat(70)}`);
    const { events } = await chat(give(deep, deep), { output: { schema: { type: "object" } } });
    const issues = [{ field: "", message: "must have at most 64 levels" }];
    expect(events.at(-1)).toMatchObject({ error: { code: "output_invalid", details: { issues } } });
  });

  test("whose schema makes the check take too long fails, and the machine works on", async () => {
    const slow = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
    const value = { a: `${"a".repeat(60)}!` };
    const { events } = await chat(give(value, value), { output: { schema: slow } });
    expect(events.at(-1)).toMatchObject({
      error: { code: "output_invalid", message: expect.stringContaining("takes too long to check") },
    });
    expect((await chat("hi", {})).said).toBe("hi");
  });
});

describe("a message that waits", () => {
  test("keeps its schema in the queue, also over a restart of the server", async () => {
    const first = await client.fetch("POST", `/agents/${agent}/chat`, { message: "hang" });
    const queued = await client.fetch("POST", `/agents/${agent}/chat`, {
      message: give(ada),
      output,
      whenBusy: "queue",
    });
    const id = queued.headers.get("x-turn-id")!;
    expect(queued.headers.get("x-berth-placed")).toBe("queued");
    await Promise.all([first.body!.cancel(), queued.body!.cancel()]);
    await service.restart();
    client = service.client;
    await client.call("POST", `/agents/${agent}/turns/${first.headers.get("x-turn-id")}/cancel`);
    const held = async () => (await client.call("GET", `/agents/${agent}/queue`)).body.held;
    await expect.poll(held).toBe("cancelled");
    await client.call("POST", `/agents/${agent}/queue`, { action: "resume" });
    const followed = await client.fetch("GET", `/agents/${agent}/turns/${id}/events`);
    const last = (await Array.fromAsync(eventsOf(followed))).at(-1)!.event;
    expect(last).toEqual({ type: "response.completed", output: ada });
  });

  test("is not steered into a running turn, which may have no output", async () => {
    const listening = client.fetch("POST", `/agents/${agent}/chat`, { message: "hang", include: ["status"] });
    const id = (await listening).headers.get("x-turn-id");
    const waiting = chat(give(ada), { output, whenBusy: "interrupt" });
    await (await listening).text();
    const { placed, events } = await waiting;
    expect([placed, events.at(-1)]).toEqual(["queued", { type: "response.completed", output: ada }]);
    expect((await turn(id!)).status).toBe("cancelled");
  });
});

describe("a schema that cannot be used is refused with its place", () => {
  const at = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

  test.each<[string, unknown, string]>([
    ["no object", [], ""],
    ["no type", {}, "/type"],
    ["an array", { type: "array" }, "/type"],
    ["a reference to an address", at({ a: { $ref: "http://127.0.0.1:1/a.json" } }), "/properties/a/$ref"],
    ["a reference that is missing", at({ a: { $ref: "#/$defs/a" } }), "/properties/a/$ref"],
    ["an invalid keyword", at({ a: { maxLength: -1 } }), "/properties/a/maxLength"],
    ["an invalid pattern", at({ a: { pattern: "(?<" } }), "/properties/a/pattern"],
    ["a schema that is too large", { type: "object", description: "x".repeat(maximumSchemaBytes) }, ""],
    ["an asynchronous schema", { type: "object", $async: true }, "/$async"],
  ])("%s", async (_, given, field) => {
    const { status, body } = await chat("hi", { output: { schema: given } });
    expect([status, body.code]).toEqual([400, "request_invalid"]);
    if (!Array.isArray(given)) expect(body.details.issues[0].field).toBe(field);
    if (field) expect(body.message).toContain(field);
    expect((await client.call("GET", `/agents/${agent}/turns`)).body.data).toEqual([]);
  });

  test("and nothing is fetched for it", async () => {
    const connections: unknown[] = [];
    const server = createServer((socket) => connections.push(socket.destroy())).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const url = `http://127.0.0.1:${port}/schema.json`;
    for (const schema of [
      at({ a: { $ref: url } }),
      at({ a: { $ref: "#/properties/b/const" }, b: { const: { $ref: url } } }),
      { type: "object", $schema: url },
      at({}, { $id: url }),
    ])
      expect((await chat("hi", { output: { schema } })).status).toBe(400);
    server.close();
    expect(connections).toEqual([]);
  });

  test("and so is a function with the name of the tool", async () => {
    const tools = [{ type: "function", name: "give_output" }];
    const body = { model: agent, input: "hi", tools, text: { format: { type: "json_schema", name: "a", schema } } };
    const { status, body: refused } = await client.call("POST", "/v1/responses", body);
    expect([status, refused.error.message]).toEqual([400, expect.stringContaining("give_output is reserved")]);
  });
});

test("the typed client returns the output, and throws when there is none", async () => {
  const berth = new Berth({ url: client.url, key: client.key });
  const reply = berth.agent(agent).chat(give(ada), { output });
  expect(await reply.output<typeof ada>()).toEqual(ada);
  const refused = await berth
    .agent(agent)
    .chat("hello", { output })
    .output()
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(TurnError);
  expect(refused).toMatchObject({ code: "output_missing" });
  const without = await berth
    .agent(agent)
    .chat("hello")
    .output()
    .catch((error: unknown) => error);
  expect((without as Error).message).toContain("without a schema");
});

test("an archive has the output, and so has the agent that is imported from it", async () => {
  await chat(give(ada));
  const archive = await client.fetch("GET", `/agents/${agent}/export`);
  const bytes = Buffer.from(await archive.arrayBuffer());
  const imported = await importArchive(client, bytes, { query: `?name=${agent}-again&wait=ready` });
  expect(imported.status).toBe(201);
  const { data } = (await client.call("GET", `/agents/${agent}-again/turns`)).body;
  expect(data).toMatchObject([{ message: give(ada), output: ada }]);
  const events = await client.fetch("GET", `/agents/${agent}-again/turns/${data[0].id}/events`);
  expect((await Array.fromAsync(eventsOf(events))).at(-1)!.event).toMatchObject({ output: ada });
});

test("all runtimes can", async () => {
  const { data } = (await client.call("GET", "/runtimes")).body;
  expect(data.map(({ abilities }: { abilities: object }) => abilities)).toEqual(
    data.map(() => expect.objectContaining({ output: { supported: true, reason: null } })),
  );
});
