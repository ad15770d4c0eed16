import { expect, test } from "vitest";
import { maximumBytes, messageOf } from "./message.ts";

const about = { title: "ada completed a turn", url: "/-/", tag: "t", workspaceId: "w", items: ["i"] };
const notification = { ...about, id: "1", isUrgent: false, reply: "secret" };

test("a message has what a browser shows, and no reply", () => {
  expect(JSON.parse(messageOf({ ...notification, body: "Done." }))).toEqual({ ...about, body: "Done." });
});

test.each([
  ["letters", "a"],
  ["letters of three bytes", "永"],
  ["emoji of four bytes", "🚢"],
  ["characters that JSON escapes", "\u0001"],
])("a long body of %s is cut between two characters", (_, character) => {
  const text = messageOf({ ...notification, body: character.repeat(5_000) });
  expect(Buffer.byteLength(text)).toBeLessThan(maximumBytes + 10);
  expect(JSON.parse(text).body).toMatch(new RegExp(`^${character === "\u0001" ? "\\u0001" : character}*…$`, "u"));
});
