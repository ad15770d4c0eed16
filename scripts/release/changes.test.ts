import { expect, test } from "vitest";
import { changesOf } from "./changes.ts";

const changelog =
  "# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.30\n\n- Later.\n\n## 1.2.3 - 2026-01-02\n\n- Old.\n";

test("the changes of a version are its section", () => {
  expect(changesOf(changelog, "1.2.3")).toBe("## 1.2.3 - 2026-01-02\n\n- Old.\n");
  expect(changesOf("## [2.0.0]\n\n- A.\n", "2.0.0")).toBe("## [2.0.0]\n\n- A.\n");
});

test("a version without a section has the unreleased changes, and no section is an error", () => {
  expect(changesOf(changelog, "1.2")).toBe("## Unreleased\n\n- New.\n");
  expect(() => changesOf("# Changelog\n", "1.2.3")).toThrow("no section for 1.2.3");
});
