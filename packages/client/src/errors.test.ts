import { expect, test } from "vitest";
import { ApiError } from "./errors.ts";

test("appends validation issues that the message omits", () => {
  const details = { issues: [{ field: "name", message: "too short" }, { message: "unknown field x" }] };
  const error = new ApiError(400, { message: "name: too short", details });
  expect(error.message).toBe("name: too short\n  unknown field x");
});

test.each([null, "text", { issues: "none" }, { issues: [null, 1, { field: 1 }] }])(
  "details of another form are let be: %j",
  (details) => {
    expect(new ApiError(400, { message: "No.", details }).message).toBe("No.");
  },
);

test("a response without a message is described by its status", () => {
  expect(new ApiError(502, {}).message).toBe("The service answered with status 502.");
});
