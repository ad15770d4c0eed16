import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { firstLine } from "./transfers.ts";

test("the first line of a stream is taken, however it is cut, and the rest stays", async () => {
  for (const pieces of [["line\nrest"], ["li", "ne", "\nre", "st"], ["line", "\n", "rest"], ["line\n", "rest"]]) {
    const stream = new PassThrough();
    for (const piece of pieces) stream.write(piece);
    stream.end();
    expect(String(await firstLine(stream))).toBe("line");
    expect(await text(stream)).toBe("rest");
  }
});

test("a line alone leaves nothing", async () => {
  const stream = new PassThrough();
  stream.end("line\n");
  expect(String(await firstLine(stream))).toBe("line");
  expect(await text(stream)).toBe("");
});

test("a stream that ends or breaks before the line, and a line without end, are refused", async () => {
  const ended = new PassThrough();
  ended.end("li");
  await expect(firstLine(ended)).rejects.toThrow("closed");
  const broken = new PassThrough();
  broken.write("li");
  setImmediate(() => broken.destroy());
  await expect(firstLine(broken)).rejects.toThrow("closed");
  const long = new PassThrough();
  const line = firstLine(long);
  for (let sent = 0; sent < 3; sent++) long.write("x".repeat(64 * 1024));
  await expect(line).rejects.toThrow("too long");
});
