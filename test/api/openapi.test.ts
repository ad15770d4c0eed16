import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { incompatibilities, type OpenApiDocument, type Schema } from "../../scripts/compatibility.ts";
import { ScriptedService } from "../support/scripted-service.ts";

async function committed(name: string): Promise<OpenApiDocument> {
  return JSON.parse(await readFile(new URL(`../../docs/${name}`, import.meta.url), "utf8"));
}

test("the committed document is what the server answers; if not: make openapi", async () => {
  await using service = await ScriptedService.start();
  const { body } = await service.client.call("GET", "/openapi.json");
  expect(await committed("openapi.json")).toEqual(body);
});

test("programs written for the last release work with this one", async () => {
  expect(incompatibilities(await committed("openapi-released.json"), await committed("openapi.json"))).toEqual([]);
});

interface Sketch {
  query?: Record<string, Schema>;
  required?: string[];
  body?: Record<string, Schema>;
  bodyRequired?: string[];
  answer?: Record<string, Schema>;
  answerRequired?: string[];
  status?: number;
  security?: unknown[];
}

/** A document with the one operation `POST /agents`. */
function document(sketch: Sketch = {}): OpenApiDocument {
  const { query = {}, required = [], body = {}, bodyRequired = ["name"], status = 201, security = [] } = sketch;
  const { answer = {}, answerRequired = ["name"] } = sketch;
  const parameters = Object.entries(query).map(([name, schema]) => {
    return { name, in: "query", required: required.includes(name), schema };
  });
  const sent = { type: "object", properties: { name: { type: "string" }, ...body }, required: bodyRequired };
  const answered = { type: "object", properties: { name: { type: "string" }, ...answer }, required: answerRequired };
  return {
    paths: {
      "/agents": {
        post: {
          security,
          parameters,
          requestBody: { required: true, content: { "application/json": { schema: sent } } },
          responses: { [status]: { content: { "application/json": { schema: { $ref: "#/components/schemas/A" } } } } },
        },
      },
    },
    components: { schemas: { A: answered } },
  };
}

const text = { type: "string" };
const number = { type: "number" };
const none = { type: "null" };
const sizes = (...values: string[]) => ({ type: "string", enum: values });

const broken: [string, Sketch, Sketch, string][] = [
  ["an operation needs credentials", {}, { security: [{ key: [] }] }, "needs credentials now"],
  ["a parameter is gone", { query: { wait: text } }, {}, "query parameter wait: is gone"],
  [
    "a parameter is required",
    { query: { wait: text } },
    { query: { wait: text }, required: ["wait"] },
    "query parameter wait: is required now",
  ],
  ["a new one is", {}, { query: { wait: text }, required: ["wait"] }, "query parameter wait: is new and required"],
  ["a field is required", {}, { body: { size: text }, bodyRequired: ["name", "size"] }, "body.size: is required now"],
  ["a field is not taken any more", { body: { size: text } }, {}, "body.size: is gone"],
  ["another type is taken", { body: { size: text } }, { body: { size: number } }, "body.size: its type was string"],
  ["null is not taken", { body: { size: { anyOf: [text, none] } } }, { body: { size: text } }, "body.size: "],
  ["a value is not taken", { body: { size: sizes("s", "m") } }, { body: { size: sizes("s") } }, '"m" is not taken'],
  ["a limit is narrower", { body: { size: text } }, { body: { size: { ...text, maxLength: 5 } } }, "maxLength is 5"],
  ["a list's items are others", { body: { all: { items: text } } }, { body: { all: { items: number } } }, "body.all[]"],
  ["a status is gone", {}, { status: 202 }, "answer 201: is gone"],
  ["an answer's field is gone", { answer: { size: text } }, {}, "answer 201.size: is gone"],
  ["an answer's field may be missing", {}, { answerRequired: [] }, "answer 201.name: may be missing now"],
  [
    "an answer may be null",
    { answer: { size: text } },
    { answer: { size: { anyOf: [text, none] } } },
    "answer 201.size",
  ],
];

test.each(broken)("incompatible: %s", (_case, before, after, line) => {
  const found = incompatibilities(document(before), document(after));
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(`POST /agents: ${line.startsWith("body") ? line : ""}`);
  expect(found[0]).toContain(line);
});

test("incompatible: an operation is gone", () => {
  expect(incompatibilities(document(), { paths: {} })).toEqual(["POST /agents: is gone"]);
});

test.each<[string, Sketch, Sketch]>([
  ["a new parameter", {}, { query: { wait: text } }],
  ["a new field in a request", {}, { body: { size: text } }],
  ["null in a request", { body: { size: text } }, { body: { size: { anyOf: [text, none] } } }],
  ["a new value in a request", { body: { size: sizes("s") } }, { body: { size: sizes("s", "m") } }],
  ["any number for an integer", { body: { size: { type: "integer" } } }, { body: { size: number } }],
  ["a wider limit", { body: { size: { ...text, maxLength: 5 } } }, { body: { size: { ...text, maxLength: 6 } } }],
  ["a new field in an answer", {}, { answer: { size: text } }],
  ["no null any more in an answer", { answer: { size: { anyOf: [text, none] } } }, { answer: { size: text } }],
  ["a new value in an answer", { answer: { size: sizes("s") } }, { answer: { size: sizes("s", "m") } }],
  ["no credentials any more", { security: [{ key: [] }] }, {}],
])("compatible: %s", (_case, before, after) => {
  expect(incompatibilities(document(before), document(after))).toEqual([]);
});
