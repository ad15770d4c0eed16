import { expect, test } from "vitest";
import { z } from "zod";
import { argumentsOf } from "./arguments.ts";

test("invalid arguments of a tool are described as in the API", async () => {
  const { validate, jsonSchema } = argumentsOf(z.strictObject({ limit: z.int().max(5) }))["~standard"];
  expect(await validate({ limit: 3 })).toEqual({ value: { limit: 3 } });
  expect(await validate({ limit: 6 })).toEqual({ issues: [{ path: ["limit"], message: "Must be at most 5." }] });
  expect(await validate([])).toEqual({ issues: [{ path: [], message: "Must be an object." }] });
  expect(jsonSchema.input({ target: "draft-2020-12" })).toMatchObject({ type: "object", required: ["limit"] });
});
