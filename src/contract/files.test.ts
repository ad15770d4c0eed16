import { expect, test } from "vitest";
import { ReceivedFile } from "./files.ts";

test("an entity tag of a machine is one that a header can hold", () => {
  const received = (etag: string) => ReceivedFile.safeParse({ path: "/x", created: true, etag }).success;
  expect(['"a-1"', '""'].map(received)).toEqual([true, true]);
  expect(['"a\nb"', '"Ā"', '"a"b"', "a", `"${"a".repeat(300)}"`].map(received)).toEqual(Array(5).fill(false));
});
