import { expect, test } from "vitest";
import { maximumBytes, messageOf } from "./message.ts";

const notification = { id: "1", title: "ada completed a turn", url: "/-/", tag: "t", isUrgent: false, reply: "secret" };

test("a message has what a browser shows, and no reply", () => {
  const { title, url, tag } = notification;
  expect(JSON.parse(messageOf({ ...notification, body: "Done." }))).toEqual({ title, body: "Done.", url, tag });
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
