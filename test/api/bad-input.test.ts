import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKey } from "../../src/accounts/key-format.ts";
import { ErrorBody } from "../../src/contract/agents.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
  await client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

function expectError(answer: Answer, status: number, code: string, message: RegExp) {
  expect(ErrorBody.parse(answer.body)).toMatchObject({ statusCode: status, code });
  expect(answer.status).toBe(status);
  expect(answer.body.message).toMatch(message);
  expect(answer.headers.get("x-request-id")).toBeTruthy();
}

test.each([
  ["two characters", "ab"],
  ["31 characters", "a".repeat(31)],
  ["capitals", "Ada"],
  ["a space", "ada b"],
  ["another alphabet", "åda"],
  ["an emoji", "ada🙂"],
  ["a leading digit", "1ada"],
  ["a last hyphen", "ada-"],
  ["an underscore", "a_da"],
  ["a line end", "ada\n"],
  ["a number", 123],
  ["null", null],
  ["nothing", undefined],
])("a name with %s is refused with what is allowed", async (_case, name) => {
  expectError(await client.call("POST", "/agents", { name }), 400, "agent_name_invalid", /3 to 30 characters/);
});

test.each(["abc", "a".repeat(30), "a-1", "x2y"])("the name %s is allowed", async (name) => {
  expect((await client.call("POST", "/agents", { name })).status).toBe(201);
  expect((await client.call("DELETE", `/agents/${name}`)).status).toBe(204);
});

test.each([
  ["an unknown runtime", { name: "bob", runtime: "bash" }, "runtime_not_available", /claude-code, opencode, openclaw/],
  ["a runtime that is no text", { name: "bob", runtime: 7 }, "request_invalid", /^runtime: Must be a string\.$/],
  ["an unknown field", { name: "bob", colour: "red" }, "request_invalid", /colour/],
  ["a model that is not there", { name: "bob", model: "openai/gpt" }, "model_not_available", /demo\/demo/],
  ["a model of a shape that none has", { name: "bob", model: "gpt" }, "model_not_available", /demo\/demo/],
  ["instructions over 64 KiB", { name: "bob", instructions: "ä".repeat(32769) }, "request_invalid", /64 KiB/],
  ["a null character in instructions", { name: "bob", instructions: "a\0b" }, "request_invalid", /null characters/],
  ["too many processors", { name: "bob", resources: { cpus: 99 } }, "request_invalid", /resources\.cpus.*16/],
  ["a field within resources", { name: "bob", resources: { gpus: 1 } }, "request_invalid", /gpus/],
  ["an array", [], "request_invalid", /^Must be an object\.$/],
  ["a string", '"ada"', "request_invalid", /object/],
])("creating with %s is refused", async (_case, body, code, message) => {
  expectError(await client.call("POST", "/agents", body), 400, code, message);
});

test.each([
  [
    "nothing",
    {},
    "request_invalid",
    /one of runtime, model, effort, instructions, acp, mcpServers, agents, fallbackModels, autoSnapshot/,
  ],
  ["its name", { name: "bob" }, "request_invalid", /name/],
  ["its runtime to one that is not there", { runtime: "emacs" }, "runtime_not_available", /claude-code, opencode/],
  ["its model to one that is not there", { model: "anthropic/x" }, "model_not_available", /demo\/demo/],
  ["its instructions to a number", { instructions: 7 }, "request_invalid", /instructions/],
])("changing %s of an agent is refused, and nothing is changed", async (_case, body, code, message) => {
  const before = await client.call("GET", "/agents/ada");
  expectError(await client.call("PATCH", "/agents/ada", body), 400, code, message);
  expect((await client.call("GET", "/agents/ada")).body).toEqual(before.body);
});

test.each(["PATCH /agents/nobody", "POST /agents/nobody/restart", "POST /agents/nobody/conversation/reset"])(
  "%s is 404",
  async (call) => {
    const [method, path] = call.split(" ") as [string, string];
    const body = method === "PATCH" ? { model: null } : undefined;
    expectError(await client.call(method, path, body), 404, "agent_not_found", /nobody/);
  },
);

test("a body that is missing, broken, of another type or too large is refused", async () => {
  expectError(await client.call("POST", "/agents"), 400, "request_invalid", /no body/);
  expectError(await client.call("POST", "/agents", "{"), 400, "request_invalid", /not JSON/);
  expectError(await client.call("POST", "/agents", ""), 400, "request_invalid", /not JSON/);
  expectError(await client.call("POST", "/agents", '{"__proto__":{},"name":"bob"}'), 400, "request_invalid", /JSON/);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expectError(
    await client.call("POST", "/agents", "name=bob", form),
    415,
    "content_type_unsupported",
    /application\/json/,
  );
  const large = { name: "bob", instructions: "x".repeat(2 * 1024 * 1024) };
  expectError(await client.call("POST", "/agents", large), 413, "body_too_large", /1 MiB/);
});

test("a name that is taken is 409", async () => {
  expectError(await client.call("POST", "/agents", { name: "ada" }), 409, "agent_exists", /ada/);
});

test("of two creations of one name at once, one is 409", async () => {
  const answers = await Promise.all([1, 2].map(() => client.call("POST", "/agents", { name: "twice" })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
});

test("a chat with an unknown agent, an empty message, a number or too long a text is refused", async () => {
  const chat = (name: string, body: unknown) => client.call("POST", `/agents/${name}/chat`, body);
  expectError(await chat("nobody", { message: "hi" }), 404, "agent_not_found", /nobody/);
  expectError(await chat("ada", { message: "" }), 400, "request_invalid", /must not be empty/);
  expectError(await chat("ada", { message: 5 }), 400, "request_invalid", /message/);
  expectError(await chat("ada", {}), 400, "request_invalid", /message, content is required/);
  expectError(await chat("ada", { message: "ä".repeat(128 * 1024 + 1) }), 400, "request_invalid", /256 KiB/);
  expectError(await chat("ada", { message: "a\0b" }), 400, "request_invalid", /null character/);
  expectError(await chat("ada", { message: "hi", include: ["gossip"] }), 400, "request_invalid", /include/);
});

test("a missing, malformed, mistyped or unknown key is 401", async () => {
  const with_ = (authorization: string) => client.call("GET", "/agents", undefined, { authorization });
  for (const bad of ["Basic abc", "Bearer", "Bearer x", `Bearer ${client.key}x`, `Bearer ${createKey("full").key}`]) {
    const answer = await with_(bad);
    expectError(answer, 401, "credentials_invalid", /key/);
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(JSON.stringify(answer.body)).not.toContain(client.key);
  }
  expectError(await with_(""), 401, "credentials_missing", /Bearer/);
  expect((await with_(`bearer ${client.key}`)).status).toBe(200);
});

test("an unknown path is 404, a wrong method 405, both in the one shape", async () => {
  expectError(await client.call("GET", "/nothing"), 404, "path_not_found", /openapi/);
  expectError(await client.call("GET", "/agents/ada/nothing"), 404, "path_not_found", /path/);
  const wrong = await client.call("PUT", "/agents", { name: "bob" });
  expectError(wrong, 405, "method_not_allowed", /GET.*POST/);
  expect(wrong.headers.get("allow")).toContain("POST");
  expectError(await client.call("GET", "/agents/%00"), 404, "agent_not_found", /no agent/);
  const badPath = /^The path is not valid percent-encoded UTF-8\.$/;
  expectError(await client.call("GET", "/agents/%ff%fe"), 400, "request_invalid", badPath);
  expectError(await client.call("GET", "/agents/%zz"), 400, "request_invalid", badPath);
  expectError(await client.call("GET", `/agents/${"x".repeat(300)}`), 404, "path_not_found", /./);
});

test.each([
  ["limit=0", /^limit: Must be at least 1\.$/],
  ["limit=101", /^limit: Must be at most 100\.$/],
  ["limit=two", /^limit: Must be a number\.$/],
  ["cursor=%7B%7D", /cursor/],
  ["colour=red", /colour/],
])("a list with %s is refused", async (query, message) => {
  expectError(await client.call("GET", `/agents?${query}`), 400, "request_invalid", message);
});

test("a turn that is not there or has ended cannot be cancelled", async () => {
  const none = "00000000-0000-4000-8000-000000000000";
  expectError(await client.call("POST", `/agents/ada/turns/${none}/cancel`), 404, "turn_not_found", /no turn/);
  expectError(await client.call("POST", "/agents/ada/turns/x/cancel"), 404, "turn_not_found", /no turn/);
  const { turnId } = await client.chat("ada", "hello");
  expectError(await client.call("POST", `/agents/ada/turns/${turnId}/cancel`), 409, "turn_finished", /ended/);
});

test("invalid HTTP gets the standard error, and the connection closes", async () => {
  const socket = connect(Number(new URL(client.url).port), "127.0.0.1");
  socket.write("nonsense\r\n\r\n");
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1.1 400/);
  expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4))).toMatchObject({
    statusCode: 400,
    error: "Bad Request",
  });
});

test("a fault within the service tells nothing of it", async () => {
  const broken = Object.assign(new Error("secret detail"), { code: "EIO" });
  service.driver.failures.push(broken);
  const failed = await client.createAgent("unlucky");
  expect(failed.body).toMatchObject({ status: "failed", error: { code: "machine_failed" } });
  expect(JSON.stringify(failed.body)).not.toContain("secret");
  expectError(await client.call("POST", "/agents/unlucky/chat", { message: "hi" }), 409, "agent_failed", /failed/);
  expect((await client.call("DELETE", "/agents/unlucky")).status).toBe(204);
});

test("a long text that looks like the beginning of many tokens is refused at once", async () => {
  // The whole server is in one thread: what takes long here keeps everybody waiting.
  const field = "eyJ".repeat(300_000);
  const answer = await client.call("POST", "/keys", { [field]: 1 });
  expectError(answer, 400, "request_invalid", /^eyJ.*: Unknown field/);
  const token = `eyJ${"a".repeat(20)}.b.c`;
  expectError(await client.call("POST", "/keys", { [token]: 1 }), 400, "request_invalid", /^…: Unknown field\.$/);
});

/** JSON of up to 1 MiB, the most that a body may have. */
const million = 345_000;

test.each([
  ["/agents/ada/agui", { threadId: "t", runId: "r", messages: Array(million).fill({}) }],
  ["/agents/ada/agui", { threadId: "t", runId: "r", messages: Array(30_000).fill({}) }],
  ["/agents/ada/agui", { threadId: "t", runId: "r", messages: Array(9_000).fill({}) }],
  ["/agents/ada/agui", { threadId: "t", runId: "r", messages: Array(50).fill({}) }],
  ["/agents", { name: "bob", mcpServers: Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [at, 0])) }],
  ["/agents", Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`field-${at}`, 0]))],
  ["/v1/chat/completions", { model: "ada", messages: Array(9_000).fill({ tool_calls: Array(9).fill(0) }) }],
  [
    "/agents/ada/commands",
    { command: "ls", env: Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [at, 0])) },
  ],
])("a body to %s with very many mistakes has few of them in its answer (%#)", async (path, body) => {
  const answer = await client.call("POST", path, body);
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body).length).toBeLessThan(15_000);
  expect(answer.body.details?.issues.length ?? 1).toBeLessThanOrEqual(10);
});

test("a body with very many levels is refused before it is parsed", async () => {
  const answer = await client.call("POST", "/agents", `{"name":${"[".repeat(400_000)}${"]".repeat(400_000)}}`);
  expectError(answer, 400, "request_invalid", /100000 JSON values and 200 levels/);
});

test("a request without a body may name the type of one", async () => {
  await client.createAgent("bodiless");
  const asJson = { "content-type": "application/json" };
  for (const [method, path, status] of [
    ["POST", "/agents/bodiless/conversation/reset", 200],
    ["DELETE", "/v1/files/file-none", 404],
    ["DELETE", "/agents/bodiless", 204],
  ] as const)
    expect((await client.call(method, path, "", asJson)).status, path).toBe(status);
  expectError(await client.call("POST", "/agents", "", asJson), 400, "request_invalid", /not JSON/);
});
