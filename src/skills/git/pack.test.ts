import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { objectsIn } from "./pack.ts";
import { GitAnswerInvalid, packetsIn } from "./packets.ts";

const blob = 3;
const ofsDelta = 6;
const refDelta = 7;

const idOf = (text: string) => createHash("sha1").update(`blob ${text.length}\0${text}`).digest("hex");

/** The type and the size of an entry. */
function headOf(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 128;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

function entry(type: number, content: Buffer | string, { base = Buffer.alloc(0), size = content.length } = {}): Buffer {
  return Buffer.concat([headOf(type, size), base, deflateSync(content)]);
}

function packOf(entries: readonly Buffer[], count = entries.length): Buffer {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  head.writeUInt32BE(count, 8);
  return Buffer.concat([head, ...entries, Buffer.alloc(20)]);
}

/** A delta of `hello` that copies `copied` bytes from `from`, and adds ` there`. */
function delta({ from = 0, copied = 5, base = 5, size = 11 } = {}): Buffer {
  return Buffer.concat([Buffer.from([base, size, 0x80 | 0x01 | 0x10, from, copied, 6]), Buffer.from(" there")]);
}

const hello = entry(blob, "hello");
const offsetOf = (bytes: Buffer) => Buffer.from([bytes.length]);

describe("a pack", () => {
  test("has objects and differences, also before what they refer to", async () => {
    const base = Buffer.from(idOf("hello"), "hex");
    for (const entries of [
      [hello, entry(ofsDelta, delta(), { base: offsetOf(hello) })],
      [hello, entry(refDelta, delta(), { base })],
      [entry(refDelta, delta(), { base }), hello],
    ]) {
      const objects = await objectsIn(packOf(entries));
      expect([...objects.keys()].toSorted()).toEqual([idOf("hello"), idOf("hello there")].toSorted());
      expect(objects.get(idOf("hello there"))!.bytes.toString()).toBe("hello there");
    }
  });

  const ofs = (bytes: Buffer) => [hello, entry(ofsDelta, bytes, { base: offsetOf(hello) })];
  test.each<[string, Buffer, string]>([
    ["that is none", Buffer.from("hello ".repeat(20)), "no pack"],
    ["of another version", Buffer.concat([Buffer.from("PACK\0\0\0\x03", "latin1"), Buffer.alloc(40)]), "no pack"],
    ["with too many objects", packOf([hello], 100_001), "more than 100000"],
    ["that is cut off", packOf([hello], 2), "no type"],
    ["that ends in an object", packOf([hello]).subarray(0, -24), "no pack"],
    ["with a damaged object", packOf([Buffer.concat([headOf(blob, 5), Buffer.alloc(30, 1)])]), "damaged"],
    ["with a smaller object", packOf([entry(blob, "hello", { size: 9 })]), "another size"],
    ["with a larger object", packOf([entry(blob, "hello", { size: 3 })]), "damaged"],
    ["with a huge object", packOf([entry(blob, "hello", { size: 2 ** 40 })]), "more than 96 MiB"],
    ["that expands", packOf([entry(blob, Buffer.alloc(60_000_000)), entry(blob, Buffer.alloc(60_000_000))]), "96 MiB"],
    ["of an unknown type", packOf([entry(5, "hello")]), "no type"],
    ["without a base", packOf([entry(refDelta, delta(), { base: Buffer.alloc(20) })]), "base is missing"],
    ["with a base before it", packOf([entry(ofsDelta, delta(), { base: Buffer.from([100]) })]), "base is missing"],
    ["with a delta of another size", packOf(ofs(delta({ base: 6 }))), "another object"],
    ["with a copy beyond the end", packOf(ofs(delta({ from: 3 }))), "its base lacks"],
    ["with a long delta", packOf(ofs(delta({ size: 10 }))), "too long"],
    ["with a short delta", packOf(ofs(delta({ size: 12 }))), "too short"],
    ["with a delta that is cut off", packOf(ofs(delta().subarray(0, -1))), "cut off"],
    ["with a delta without end", packOf(ofs(Buffer.alloc(20, 0xff))), "no size"],
    ["with an unknown instruction", packOf(ofs(Buffer.from([5, 1, 0]))), "unknown instruction"],
  ])("%s is refused", async (_, pack, said) => {
    await expect(objectsIn(pack)).rejects.toThrow(said);
    await expect(objectsIn(pack)).rejects.toBeInstanceOf(GitAnswerInvalid);
  });
});

test.each(["zzzz", "0003", "00", "0009abc", "ffff"])("the packet %j is refused", (text) => {
  expect(() => [...packetsIn(Buffer.from(text))]).toThrow(GitAnswerInvalid);
});
