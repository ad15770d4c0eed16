import { expect, test } from "vitest";
import { faultOf } from "./faults.ts";

function failed(code: string, path?: string): Error {
  return Object.assign(new Error(code), { code, ...(path && { path }) });
}

test("a refusal names the entry that caused it", () => {
  expect(faultOf(failed("EACCES", "/home/a/b"), "/home/a").message).toMatch(/: \/home\/a\/b$/);
});

test.each([undefined, "/home/.berth-upload-1a/b", "/proc/12/fd/3"])("%s is not named to the caller", (path) => {
  expect(faultOf(failed("ENOSPC", path), "/home/a").message).toMatch(/: \/home\/a$/);
});
