import { expect, test } from "vitest";
import { UnsendableError } from "./errors.ts";
import { operations } from "./generated/operations.gen.ts";
import { pathOf } from "./path.ts";

test("parameters are encoded, and what is not given is left out of the query", () => {
  expect(pathOf(operations.setSecret.path, { name: "a/b", secret: "ä?" })).toBe("/agents/a%2Fb/secrets/%C3%A4%3F");
  const query = { after: 0, include: ["tools", "usage"], limit: undefined, cursor: null, none: [] };
  expect(pathOf(operations.listTurns.path, { name: "ada" }, query)).toBe(
    "/agents/ada/turns?after=0&include=tools,usage",
  );
});

test.each(["", ".", ".."])("a parameter that would make another path is refused: %j", (name) => {
  expect(() => pathOf(operations.getAgent.path, { name })).toThrow(UnsendableError);
});
