import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Schema } from "../../scripts/compatibility.ts";
import { ErrorBody } from "../../src/contract/agents.ts";
import type { Route } from "../../src/contract/route.ts";
import { routes } from "../../src/contract/routes.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { almost, strange } from "../support/json-schema.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Each operation is called with what its own schema says, and with what it does not say. `BERTH_FUZZ_RUNS` sets how often.

const runs = Number(process.env.BERTH_FUZZ_RUNS ?? 40);
const hangMs = 60_000;

interface Parameter {
  name: string;
  in: "query" | "path" | "header";
  schema: Schema;
}

interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

let service: ScriptedService;
let client: TestClient;
let document: Document;
let turnId: string;
let uploadId: string;
let approvalId: string;

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
  document = (await client.call("GET", "/openapi.json")).body;
  await client.createAgent("ada");
  // A turn that has asked, so that its approval can be answered.
  await client.call("PATCH", "/agents/ada", { permissions: { execute: "ask" } });
  const asking = await client.fetch("POST", "/agents/ada/chat", {
    message: "use execute make",
    include: ["approvals"],
  });
  turnId = asking.headers.get("x-turn-id")!;
  for await (const { event } of eventsOf(asking)) {
    if (event.type !== "response.approval.requested") continue;
    approvalId = event.id;
    await client.call("POST", `/agents/ada/turns/${turnId}/approvals/${approvalId}`, { decision: "allow" });
  }
  const bytes = { method: "POST", body: "notes", headers: { authorization: `Bearer ${client.key}` } };
  const uploaded = await fetch(`${client.url}/agents/ada/uploads?name=notes.txt`, bytes);
  uploadId = ((await uploaded.json()) as { id: string }).id;
});
afterAll(() => service[Symbol.asyncDispose]());

/** Every request gets a response, and the interface documents it. */
async function expectAnswer(method: string, path: string, body?: string): Promise<void> {
  const response = await fetch(client.url + path, {
    method,
    signal: AbortSignal.timeout(hangMs),
    headers: {
      authorization: `Bearer ${client.key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
  });
  if (response.ok && response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await response.body!.cancel();
    return;
  }
  const text = await response.text();
  if (response.ok) return;
  expect(response.status, `${method} ${path} ${body?.slice(0, 500)}: ${text}`).not.toBe(500);
  const refusal = JSON.parse(text);
  // Other services' protocols have errors of their own.
  const isForeign = path.startsWith("/v1/") || refusal.jsonrpc === "2.0";
  if (isForeign) expect(refusal.error.message).toBeTypeOf("string");
  else expect(ErrorBody.parse(refusal).statusCode).toBe(response.status);
}

const word = fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), fc.constantFrom("..", "%", "\0", "a".repeat(200)));

/** Paths in which parameters and query are sometimes right, with a query field too many now and then. */
function paths(path: string, { parameters = [] }: Operation): fc.Arbitrary<string> {
  // The scripted machine is this one: what would run in it or change its files is asked of an agent that is not there.
  const isInMachine = /^\/agents\/\{name\}\/(commands|files)/.test(path);
  const right: Record<string, string> = {
    name: isInMachine ? "nobody" : "ada",
    path: "notes.txt",
    turnId,
    approvalId,
    uploadId,
    conversation: "1",
    commandId: turnId,
    responseId: `resp_${turnId.replaceAll("-", "")}`,
    model: "ada",
    id: "00000000-0000-4000-8000-000000000000",
  };
  const schemas = document.components.schemas;
  const query = parameters.filter((parameter) => parameter.in === "query");
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
  const filled = fc.tuple(
    ...names.map((name) =>
      isInMachine && name === "name"
        ? fc.constant("nobody")
        : fc.oneof({ weight: 4, arbitrary: fc.constant(right[name]!) }, word),
    ),
  );
  const fields = fc.record(
    Object.fromEntries([...query.map(({ name, schema }) => [name, almost(schema, schemas)]), ["colour", word]]),
    { requiredKeys: [] },
  );
  return fc.tuple(filled, fields).map(([values, asked]) => {
    const whole = names.reduce((text, name, index) => text.replace(`{${name}}`, () => encode(values[index])), path);
    const pairs = Object.entries(asked).map(([name, value]) => `${name}=${encode(value)}`);
    return pairs.length === 0 ? whole : `${whole}?${pairs.join("&")}`;
  });
}

/** Other values than texts are written as JSON; values that no URL can hold are left out. */
function encode(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return encodeURIComponent(text.toWellFormed()).slice(0, 4_000);
}

const notJson = fc.constantFrom(
  ...["", "{", "nul", '{"name":"ada","name":"bea"}', '{"message":"a","message":"b"}', '{"a":1e400}', '"\\ud800"'],
  ...["[".repeat(5_000), `${"[".repeat(20_000)}${"]".repeat(20_000)}`, '{"a":'.repeat(5_000), "\uFEFF{}", "{}\0"],
  `{"message":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
);

function bodies({ requestBody }: Operation): fc.Arbitrary<string | undefined> {
  const json = requestBody?.content["application/json"]?.schema ?? {};
  const value = fc.oneof({ weight: 6, arbitrary: almost(json, document.components.schemas) }, strange);
  return fc.oneof(
    { weight: 8, arbitrary: value.map((each) => JSON.stringify(each)) },
    { weight: 2, arbitrary: notJson },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
}

// The one that ends the agent comes last.
const operations = Object.values<Route>(routes)
  .filter(({ permission }) => permission !== "public")
  .map(({ operation }) => operation)
  .sort((a, b) => Number(a.startsWith("DELETE")) - Number(b.startsWith("DELETE")));

test.each(operations)("%s answers whatever it is asked", { timeout: 180_000 }, async (operation) => {
  const [method, path] = operation.split(" ") as [string, string];
  const described = document.paths[path]![method.toLowerCase()]!;
  const body = method === "GET" || method === "DELETE" ? fc.constant(undefined) : bodies(described);
  await fc.assert(
    fc.asyncProperty(paths(path, described), body, (asked, sent) => expectAnswer(method, asked, sent)),
    { numRuns: runs, endOnFailure: true },
  );
});

test("bodies that are not UTF-8 JSON are refused in the standard shape", async () => {
  const send = (body: string | Uint8Array<ArrayBuffer>, type: string) =>
    fetch(`${client.url}/agents`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${client.key}`, "content-type": type },
    });
  const cases: [string | Uint8Array<ArrayBuffer>, string, number][] = [
    [new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), "application/json", 400],
    ["name=ada", "application/x-www-form-urlencoded", 415],
    ["{}", "text/plain", 415],
    ["{}", "application/json; charset=utf-16", 400],
    [`{"name":"${"a".repeat(1024 * 1024)}"}`, "application/json", 413],
  ];
  for (const [body, type, status] of cases) {
    const response = await send(body, type);
    expect([type, response.status]).toEqual([type, status]);
    expect(ErrorBody.parse(await response.json()).statusCode).toBe(status);
  }
});
