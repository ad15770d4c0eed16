import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { requireDescribed } from "../support/wire.ts";

// Answers that are not simply JSON are described in the OpenAPI document, too. test/api/permissions.test.ts checks an answer
// of each operation to each kind of credential.

let service: ScriptedService;

beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  await service.client.fetch("PUT", "/agents/ada/files/a.txt", "hello", { "content-type": "text/plain" });
});
afterAll(() => service[Symbol.asyncDispose]());

async function described(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await service.client.call(method, path, body, headers);
  requireDescribed(method, path, answer);
  return { status: answer.status, type: answer.headers.get("content-type")?.split(";")[0] ?? null };
}

const file = "/agents/ada/files/a.txt";
const mcp = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

test.each<[string, Parameters<typeof described>, number, string | null]>([
  ["a file", ["GET", file], 200, "text/plain"],
  ["a part of a file", ["GET", file, undefined, { range: "bytes=1-2" }], 206, "text/plain"],
  ["a range that a file does not have", ["GET", file, undefined, { range: "bytes=90-99" }], 416, "application/json"],
  ["a folder", ["GET", "/agents/ada/files/"], 200, "application/json"],
  [
    "a folder as an archive",
    ["GET", "/agents/ada/files/", undefined, { accept: "application/x-tar" }],
    200,
    "application/x-tar",
  ],
  ["no file", ["GET", "/agents/ada/files/none"], 404, "application/json"],
  ["an export", ["GET", "/agents/ada/export"], 200, "application/x-tar"],
  ["measurements", ["GET", "/metrics"], 200, "text/plain"],
  ["a list as CSV", ["GET", "/billing/entries", undefined, { accept: "text/csv" }], 200, "text/csv"],
  ["an error of OpenAI's APIs", ["GET", "/v1/models/none"], 404, "application/json"],
  ["a refused parameter of OpenAI's APIs", ["POST", "/v1/responses", { model: "ada" }], 400, "application/json"],
  ["a call of MCP", ["POST", "/mcp", ping, mcp], 200, "text/event-stream"],
  [
    "a notification of MCP",
    ["POST", "/mcp", { jsonrpc: "2.0", method: "notifications/initialized" }, mcp],
    202,
    "text/plain",
  ],
  ["a call of MCP that is none", ["POST", "/mcp", { hello: 1 }, mcp], 400, "application/json"],
  [
    "a call of A2A",
    ["POST", "/agents/ada/a2a", { ...ping, method: "GetTask", params: { id: "x" } }],
    200,
    "application/json",
  ],
  ["a call of A2A to no agent", ["POST", "/agents/none/a2a", ping], 404, "application/json"],
  ["a chat", ["POST", "/agents/ada/chat", { message: "hello" }], 200, "text/event-stream"],
  ["a deletion", ["DELETE", file], 204, null],
])("%s is answered as described", async (_, request, status, type) => {
  expect(await described(...request)).toEqual({ status, type });
});

test("a file that has not changed is answered as described", async () => {
  const other = "/agents/ada/files/b.txt";
  await service.client.fetch("PUT", other, "hello", { "content-type": "text/plain" });
  const etag = (await service.client.fetch("HEAD", other)).headers.get("etag")!;
  expect(await described("GET", other, undefined, { "if-none-match": etag })).toMatchObject({ status: 304 });
});

test.each<[string, Partial<Answer>, string]>([
  ["another status", { status: 299 }, "has no description"],
  ["another type", { headers: new Headers({ "content-type": "text/html" }), body: "x" }, "has the type text/html"],
  ["a missing field", { body: {} }, "must have required property"],
])("%s is found", (_, change, fault) => {
  const answer = { status: 200, headers: new Headers({ "content-type": "application/json" }), body: {}, ...change };
  expect(() => requireDescribed("GET", "/agents/ada", answer)).toThrow(fault);
});
