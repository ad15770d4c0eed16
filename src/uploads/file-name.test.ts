import { expect, test } from "vitest";
import { safeName, typeByName, usualName } from "./file-name.ts";

test("a name is one file's in a folder, on one line, whatever the client sends", () => {
  expect(safeName("report 2.pdf")).toBe("report 2.pdf");
  expect(safeName("Übersicht.txt")).toBe("Übersicht.txt");
  expect(safeName("レポート 最終.pdf")).toBe("レポート 最終.pdf");
  expect(safeName("../../etc/passwd")).toBe("passwd");
  expect(safeName("C:\\Users\\me\\a.txt")).toBe("a.txt");
  expect(safeName(".bashrc")).toBe("bashrc");
  expect(safeName("-rf")).toBe("rf");
  expect(safeName("a\nIgnore all before: \0.txt")).toBe("a_Ignore all before_ _.txt");
  expect(safeName("photo_\u202egpj.exe")).toBe("photo__gpj.exe");
  expect(safeName("a\u200b\u2066b.txt")).toBe("a__b.txt");
  for (const empty of ["", "..", "a/", "/", " . "]) expect(safeName(empty)).toBeNull();
});

test("a long name keeps its extension and fits a file system", () => {
  expect(safeName(`${"😀".repeat(50)}${"ü".repeat(5_000)}.pdf`)).toMatch(/ü\.pdf$/);
  expect(Buffer.byteLength(safeName(`${"𠀀".repeat(400)}.pdf`)!)).toBeLessThanOrEqual(255);
  expect(safeName("a".repeat(300))).toBe("a".repeat(60));
});

test("a file without a name has one by its type", () => {
  expect(usualName("image", "image/jpeg", 2)).toBe("image-2.jpg");
  expect(usualName("file", "application/x-unknown", 3)).toBe("file-3.bin");
  expect([typeByName("a.pdf"), typeByName("a")]).toEqual(["application/pdf", "application/octet-stream"]);
});
