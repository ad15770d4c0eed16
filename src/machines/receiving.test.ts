import { expect, test } from "vitest";
import { receiving } from "./receiving.ts";

const mebibyte = 1024 * 1024;
const of = (machine: string, account: string | null) => receiving({ machine, account: () => account });

test("responses of a machine share its budget", () => {
  using first = of("m1", "a");
  using second = of("m1", "a");
  expect([first.resize(40 * mebibyte), second.resize(9 * mebibyte), second.resize(8 * mebibyte)]).toEqual([
    true,
    false,
    true,
  ]);
});

test("machines of an account share its budget, and leave that of others", () => {
  using stack = new DisposableStack();
  const grown = Array.from({ length: 20 }, (_, at) => stack.use(of(`m${at}`, "a")).resize(32 * mebibyte));
  expect(grown.filter(Boolean)).toHaveLength(3);
  const other = stack.use(of("m20", "b"));
  expect(other.resize(48 * mebibyte)).toBe(true);
  expect(stack.use(of("spare", null)).resize(48 * mebibyte)).toBe(true);
});

test("a refused growth leaves the machine its budget", () => {
  using first = of("m1", "a");
  using second = of("m2", "a");
  using third = of("m3", "a");
  expect([first, second].map((held) => held.resize(48 * mebibyte))).toEqual([true, true]);
  expect(third.resize(48 * mebibyte)).toBe(false);
  first[Symbol.dispose]();
  expect(third.resize(48 * mebibyte)).toBe(true);
});
