import { expect, test } from "vitest";
import { Stops } from "./stops.ts";

function newStops() {
  const logged: Record<string, unknown>[] = [];
  return { stops: new Stops((message, fields) => logged.push({ message, ...fields }), 10), logged };
}

test("a part that does not stop is given up and logged, and the others stop", async () => {
  const { stops, logged } = newStops();
  const stopped: string[] = [];
  const stack = new AsyncDisposableStack();
  stack.defer(stops.of("database", () => stopped.push("database")));
  stack.defer(stops.of("machines", () => new Promise(() => {})));
  stack.defer(stops.of("turns", async () => stopped.push("turns")));
  const end = stack.disposeAsync();
  expect(stops.underWay).toEqual(["turns"]);
  await end;
  expect(stopped).toEqual(["turns", "database"]);
  expect(logged).toMatchObject([{ part: "machines" }]);
  expect(stops.underWay).toEqual([]);
});

test("a stop that fails rejects, and is no longer under way", async () => {
  const { stops, logged } = newStops();
  const broken = async () => {
    throw new Error("broken");
  };
  await expect(stops.of("egress", broken)()).rejects.toThrow("broken");
  expect([logged, stops.underWay]).toEqual([[], []]);
});
