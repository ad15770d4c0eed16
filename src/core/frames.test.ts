import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { fromFrames, toFrames } from "./frames.ts";

/** Sends two words and a trailer in pieces of this size, and returns the bytes that arrive. */
async function carried(trailer: string, pieceBytes: number, trailed: ((trailer: string) => void) | null) {
  const sent = Buffer.concat(
    await Readable.from([Buffer.from("one"), Buffer.from("two")])
      .pipe(toFrames(() => trailer))
      .toArray(),
  );
  const pieces = Array.from({ length: Math.ceil(sent.length / pieceBytes) }, (_, at) =>
    sent.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );
  const joined = fromFrames(trailed);
  const arrived = joined.toArray();
  await Promise.all([pipeline(Readable.from(pieces), joined), arrived]);
  return Buffer.concat(await arrived).toString();
}

test("frames end with their trailer, however they are cut", async () => {
  for (const pieceBytes of [1, 5, 1000]) {
    let arrived = "";
    const bytes = await carried("12345", pieceBytes, (trailer) => {
      arrived = trailer;
    });
    expect([bytes, arrived]).toEqual(["onetwo", "12345"]);
  }
});

test("an unexpected or long trailer fails the frames", async () => {
  const refused = "bytes follow the last frame";
  await expect(carried("1", 1000, null)).rejects.toThrow(refused);
  await expect(carried("1".repeat(1025), 1000, () => {})).rejects.toThrow(refused);
});
