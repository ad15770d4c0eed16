import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { Sealer } from "./sealing.ts";

const newSealer = () => new Sealer(randomBytes(32).toString("base64"));

test.each(["", "a secret", "Schlüssel 🔑", "x".repeat(100_000)])("a sealed text is opened again", (text) => {
  const sealer = newSealer();
  const sealed = sealer.seal(text, "here");
  expect(sealer.open(sealed, "here")).toBe(text);
  expect(sealer.seal(text, "here")).not.toEqual(sealed);
  if (text !== "") expect(sealed.includes(text)).toBe(false);
});

test("nothing is opened with another key, in another context, or where a byte of it was changed or lost", () => {
  const sealer = newSealer();
  const sealed = sealer.seal("a secret", "here");
  expect(newSealer().open(sealed, "here")).toBeNull();
  expect(sealer.open(sealed, "there")).toBeNull();
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(sealer.open(changed, "here")).toBeNull();
    expect(sealer.open(sealed.subarray(0, at), "here")).toBeNull();
  }
});

test("a key of another length is refused", () => {
  expect(() => new Sealer(randomBytes(16).toString("base64"))).toThrow(/32 bytes/);
});
