import { expect, test } from "vitest";
import { type ContentPart, fileOf, withoutBytes } from "./attachments.ts";

const base64 = Buffer.from("bytes").toString("base64");

test("an image and a file have the bytes and the type of their data: URL", () => {
  const part = { type: "input_image", image_url: `data:image/jpeg;base64,${base64}`, detail: "auto" };
  const image = { kind: "image", part: "input.0", name: null, mediaType: "image/jpeg", source: Buffer.from("bytes") };
  expect(fileOf(part, "input.0")).toEqual(image);
  expect(fileOf({ type: "image_url", image_url: { url: part.image_url } }, "input.0")).toEqual(image);
  expect(withoutBytes(part)).toEqual({ type: "input_image", image_url: null, detail: "auto" });
  const file = { kind: "file", part: "input.0", name: "a.pdf", mediaType: null, source: Buffer.from("bytes") };
  expect(fileOf({ type: "input_file", filename: "a.pdf", file_data: base64 }, "input.0")).toEqual(file);
  expect(fileOf({ type: "input_text", text: "hello" }, "input.0")).toBeNull();
});

test("an image and a file may have the id of a stored file", () => {
  const source = { fileId: "file-1" };
  const stored = { kind: "file", part: "input.0", name: null, mediaType: null, source };
  expect(fileOf({ type: "input_file", file_id: "file-1", file_data: null }, "input.0")).toEqual(stored);
  expect(fileOf({ type: "file", file: { file_id: "file-1" } }, "input.0")).toEqual(stored);
  expect(fileOf({ type: "input_image", file_id: "file-1" }, "input.0")).toEqual({ ...stored, kind: "image" });
});

test("an attachment without bytes is refused with the allowed kinds", () => {
  const refusals: [ContentPart, RegExp][] = [
    [{ type: "input_image" }, /image_url must be a data: URL .* missing/],
    [{ type: "input_image", image_url: "https://example.com/cat.png" }, /not fetched/],
    [{ type: "input_image", image_url: base64 }, /data: URL/],
    [{ type: "input_image", image_url: "data:," }, /data: URL/],
    [{ type: "input_image", image_url: "data:image/png;base64,?" }, /input\.0\.image_url: this is not base64/],
    [{ type: "input_image", file_id: 1 }, /input\.0: use either file_id or image_url/],
    [{ type: "input_file", file_id: "file-1", file_data: base64 }, /use either file_id or file_data/],
    [{ type: "input_file", file_url: "https://example.com/a.pdf" }, /file_url is not supported/],
    [{ type: "input_file", file_data: "" }, /empty/],
    [{ type: "file", file: { file_id: "file-1", file_data: base64 } }, /use either file_id or file\.file_data/],
    [{ type: "file", file: "a" }, /missing/],
    [{ type: "image_url", image_url: "data:image/png;base64,AAAA" }, /missing/],
  ];
  for (const [part, message] of refusals) {
    expect(() => fileOf(part, "input.0"), JSON.stringify(part)).toThrow(message);
  }
});
