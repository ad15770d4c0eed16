import { describe, expect, test } from "vitest";
import { BerthError } from "../contract/errors.ts";
import { type OutputSchema, outputTool } from "../contract/output.ts";
import { Outputs, verified } from "./output.ts";
import type { RunningTurn } from "./running-turn.ts";

const schema: OutputSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

describe("the end of a turn from a guest", () => {
  const ended = (output: object | undefined, outputSchema: OutputSchema | null) => {
    const event = { type: "response.completed" as const, ...(output && { output: output as OutputSchema }) };
    return verified({ seq: 7, event }, { turn: { outputSchema }, ending: false } as RunningTurn);
  };

  test("keeps an output that matches the schema", async () => {
    const event = { type: "response.completed", output: { name: "Ada" } };
    expect(await ended({ name: "Ada" }, schema)).toEqual({ seq: 7, event });
  });

  test("is a failure when the runner lies about its output", async () => {
    const issues = [{ field: "/name", message: "must be string" }];
    expect((await ended({ name: 1 }, schema)).event).toMatchObject({
      type: "response.failed",
      error: { code: "output_invalid", details: { issues } },
    });
    expect((await ended(undefined, schema)).event).toMatchObject({ error: { code: "output_missing" } });
  });

  test("has no output that nobody asked for", async () => {
    expect((await ended({ name: "Ada" }, null)).event).toEqual({ type: "response.completed" });
  });
});

describe("the schema of a request", () => {
  test("is refused while too many of the account are checked", async () => {
    const outputs = new Outputs();
    const asked = (account: string) => outputs.check(account, schema, []);
    const all = await Promise.allSettled([...Array.from({ length: 23 }, () => asked("one")), asked("other")]);
    const refused = all.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(refused).toMatchObject([{ code: "too_many_requests" }]);
    await asked("one");
  });

  test("is refused with a function that has the tool's name", async () => {
    const refused = await new Outputs().check("one", schema, [{ name: outputTool }]).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BerthError);
    expect((refused as BerthError).message).toContain("reserved");
  });
});
