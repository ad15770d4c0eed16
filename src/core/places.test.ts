import { expect, test } from "vitest";
import { Places } from "./places.ts";

const limits = { perHolder: 2, waiting: 3, waitMs: 60_000 };

test("a holder's third waits for a place, in the order of the calls, and another holder does not", async () => {
  const places = new Places(limits);
  const first = await places.take("ada");
  await places.take("ada");
  const order: string[] = [];
  const taken = async (name: string) => {
    const leave = await places.take("ada");
    order.push(name);
    return leave;
  };
  const [third, fourth] = [taken("third"), taken("fourth")];
  expect(await places.take("eve")).not.toBeNull();
  expect(order).toEqual([]);
  first!();
  first!(); // The second time changes nothing.
  (await third)!();
  await fourth;
  expect(order).toEqual(["third", "fourth"]);
});

test("a holder that has as many waiting as it may is refused at once", async () => {
  const places = new Places(limits);
  const [leave] = await Promise.all([places.take("ada"), places.take("ada")]);
  const waiting = [places.take("ada"), places.take("ada"), places.take("ada")];
  expect(await places.take("ada")).toBeNull();
  leave!();
  expect(await waiting[0]).not.toBeNull();
});

test("a place that is not free in time is refused, and the next one to leave goes to who still waits", async () => {
  const places = new Places({ perHolder: 1, waiting: 3, waitMs: 1 });
  const leave = await places.take("ada");
  expect(await places.take("ada")).toBeNull();
  leave!();
  expect(await places.take("ada")).not.toBeNull();
});
