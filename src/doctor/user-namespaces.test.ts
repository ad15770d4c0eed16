import { expect, test } from "vitest";
import { namespaceFinding } from "./user-namespaces.ts";

test("a server without root needs user namespaces, which Ubuntu's AppArmor may forbid", () => {
  expect(namespaceFinding("1\n", false)).toMatchObject({ ok: false, fix: expect.stringContaining("sysctl") });
  expect(namespaceFinding("1\n", true).ok).toBe(true);
  for (const setting of ["0\n", "0"]) expect(namespaceFinding(setting, false).ok).toBe(true);
});
