import { expect, test } from "vitest";
import type { TurnEvent } from "../contract/chat.ts";
import { storable } from "./storable.ts";

const delta = (text: string): TurnEvent => ({ type: "response.output_text.delta", delta: text });
const completed = (output: unknown): TurnEvent => ({ type: "response.tool_call.completed", id: "1", output });

test("a storable value stays the same object", () => {
  const literal = String.raw`a program that prints "\u0000" and "\ud83d"`;
  for (const event of [delta("ü🙂"), delta(literal), completed({ text: "ü🙂" })]) expect(storable(event)).toBe(event);
  expect(storable(completed({ text: literal }))).toEqual(completed({ text: literal }));
});

test("null characters and halves of surrogate pairs are replaced, wherever they are", () => {
  expect(storable(delta("a\0b"))).toEqual(delta("a␀b"));
  expect(storable(delta("a\ud83d"))).toEqual(delta("a\ufffd"));
  expect(storable(completed({ lines: ["\0", { deep: "\udc00x" }] }))).toEqual(
    completed({ lines: ["␀", { deep: "\ufffdx" }] }),
  );
  expect(storable(completed({ "a\0b": [{ "\ud83d": "\0" }], c: null }))).toEqual(
    completed({ "a␀b": [{ "\ufffd": "␀" }], c: null }),
  );
});

test("values nested too deeply are left out", () => {
  const deep: unknown = JSON.parse("[".repeat(50_000) + "]".repeat(50_000));
  expect(storable(completed(deep))).toEqual(completed("(nested too deeply to be stored)"));
});

test("the input of an approval that is nested too deeply is left out", () => {
  let input: unknown = "end";
  for (let depth = 0; depth < 10_000; depth++) input = [input];
  const fields = { id: crypto.randomUUID(), toolCallId: null, kind: "execute", title: "a", subject: "a\0b" } as const;
  const event = { type: "response.approval.requested", ...fields, tool: null, input, diff: null } as const;
  expect(storable(event)).toMatchObject({ input: "(nested too deeply to be stored)" });
  expect(storable({ ...event, input: {} })).toMatchObject({ subject: "a␀b" });
});
