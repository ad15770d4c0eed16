import { expect, test } from "vitest";
import { createKey, hashKey, isWellFormed } from "./key-format.ts";

test("a key has its prefix, at least 190 random bits and a checksum, and no two are alike", () => {
  const keys = Array.from({ length: 500 }, () => createKey("full"));
  for (const { key, prefix, hash } of keys) {
    expect(key).toMatch(/^berth_sk_[0-9A-Za-z]{39}$/);
    expect(prefix).toBe(key.slice(0, 12));
    expect(hash.equals(hashKey(key))).toBe(true);
    expect(isWellFormed(key)).toBe(true);
  }
  expect(new Set(keys.map(({ key }) => key)).size).toBe(500);
  const used = new Set(keys.flatMap(({ key }) => [...key.slice(9, 42)]));
  expect(used.size).toBe(62);
});

test("a key with any one character changed, left out, added or in another place is refused", () => {
  const { key } = createKey("full");
  for (let position = 0; position < key.length; position++) {
    const other = key[position] === "x" ? "y" : "x";
    expect(isWellFormed(key.slice(0, position) + other + key.slice(position + 1))).toBe(false);
    expect(isWellFormed(key.slice(0, position) + key.slice(position + 1))).toBe(false);
    expect(isWellFormed(`${key.slice(0, position)}x${key.slice(position)}`)).toBe(false);
  }
  for (const text of ["", "berth_sk_", `${key}\n`, ` ${key}`, key.toUpperCase(), "🔑".repeat(24)]) {
    expect(isWellFormed(text)).toBe(false);
  }
});
