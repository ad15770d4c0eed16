import { execFileSync } from "node:child_process";
import { mkdtempDisposable } from "node:fs/promises";
import { expect, test } from "vitest";
import { folderPrefix } from "../../test/support/config.ts";
import { changesOf, commitsSinceTag } from "./changes.ts";

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

test("the commits are those since the last tag before this one", async () => {
  await using folder = await mkdtempDisposable(folderPrefix);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], { cwd: folder.path });
  const commit = (subject: string) => git("commit", "--quiet", "--allow-empty", "--message", subject);
  expect(commitsSinceTag(folder.path)).toBe("");
  git("init", "--quiet");
  commit("core: begin");
  expect(commitsSinceTag(folder.path)).toBe("");
  git("tag", "v1.0.0");
  commit("turns: add <one> & `two`");
  commit("cli: show 三");
  git("tag", "v1.1.0");
  expect(commitsSinceTag(folder.path)).toBe(
    "\n## Commits since v1.0.0\n\n- turns: add <one> & `two`\n- cli: show 三\n",
  );
});
