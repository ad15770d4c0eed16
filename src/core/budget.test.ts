import { expect, test } from "vitest";
import { Budget } from "./budget.ts";

test("a holder gets its share and no more", () => {
  const budget = new Budget({ total: 100, perHolder: 10 });
  const held = budget.take("a", 8)!;
  expect(budget.take("a", 3)).toBeNull();
  expect(held.resize(11)).toBe(false);
  expect(held.resize(10)).toBe(true);
  expect(budget.of("a")).toBe(10);
  held[Symbol.dispose]();
  expect([budget.of("a"), budget.used]).toEqual([0, 0]);
});

test("greedy holders leave as much free as each of them has", () => {
  const budget = new Budget({ total: 1_000, perHolder: 1_000 });
  for (let round = 0; round < 1_000; round++) for (const holder of "abcdefghi") budget.take(holder, 1);
  expect(budget.of("a")).toBe(100);
  expect(budget.take("late", 100)).not.toBeNull();
});

test("a disposed part cannot be given back twice", () => {
  const budget = new Budget({ total: 100, perHolder: 50 });
  const [first, second] = [budget.take("a", 10)!, budget.take("a", 10)!];
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(budget.of("a")).toBe(10);
  second[Symbol.dispose]();
  expect(budget.used).toBe(0);
});
