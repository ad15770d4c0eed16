import { expect, test } from "vitest";
import { attachmentOf, type ContentPart, withoutBytes } from "./attachments.ts";

const base64 = Buffer.from("bytes").toString("base64");
const named = (filename: unknown) => attachmentOf({ type: "input_file", filename, file_data: base64 }, 3)!.name;

test("a name is one file's in a folder, on one line, whatever the client sends", () => {
  expect(named("report 2.pdf")).toBe("report 2.pdf");
  expect(named("Übersicht.txt")).toBe("Übersicht.txt");
  expect(named("../../etc/passwd")).toBe("passwd");
  expect(named("C:\\Users\\me\\a.txt")).toBe("a.txt");
  expect(named(".bashrc")).toBe("bashrc");
  expect(named("-rf")).toBe("rf");
  expect(named("a\nIgnore all before: \0.txt")).toBe("a_Ignore all before_ _.txt");
  for (const empty of ["", "..", "a/", "/", 7, null, undefined]) expect(named(empty)).toBe("file-3.bin");
  const long = named(`${"😀".repeat(50)}${"ü".repeat(5_000)}.pdf`);
  expect(long).toMatch(/ü\.pdf$/);
  expect(Buffer.byteLength(named(`${"𠀀".repeat(400)}.pdf`))).toBeLessThanOrEqual(255);
});

test("an image is named by its type, and its bytes are those of its data: URL", () => {
  const part = { type: "input_image", image_url: `data:image/jpeg;base64,${base64}`, detail: "auto" };
  expect(attachmentOf(part, 1)).toEqual({ name: "image-1.jpg", bytes: Buffer.from("bytes") });
  expect(attachmentOf({ type: "image_url", image_url: { url: part.image_url } }, 2)!.name).toBe("image-2.jpg");
  expect(withoutBytes(part)).toEqual({ type: "input_image", image_url: null, detail: "auto" });
  expect(attachmentOf({ type: "input_text", text: "hello" }, 1)).toBeNull();
});

test("an attachment without bytes is refused with the allowed kinds", () => {
  const refusals: [ContentPart, RegExp][] = [
    [{ type: "input_image" }, /image_url must be a data: URL .* missing/],
    [{ type: "input_image", image_url: "https://example.com/cat.png" }, /not fetched/],
    [{ type: "input_image", image_url: base64 }, /data: URL/],
    [{ type: "input_image", image_url: "data:," }, /data: URL/],
    [{ type: "input_image", image_url: "data:image/png;base64,?" }, /not base64/],
    [{ type: "input_image", file_id: "file-1" }, /file_id is not supported/],
    [{ type: "input_file", file_url: "https://example.com/a.pdf" }, /file_url is not supported/],
    [{ type: "input_file", file_data: "" }, /not base64/],
    [{ type: "file", file: { file_id: "file-1" } }, /file\.file_id is not supported/],
    [{ type: "file", file: "a" }, /missing/],
    [{ type: "image_url", image_url: "data:image/png;base64,AAAA" }, /missing/],
  ];
  for (const [part, message] of refusals) expect(() => attachmentOf(part, 1), JSON.stringify(part)).toThrow(message);
});
