import { execFileSync } from "node:child_process";

/**
 * The section of a version in a changelog of the format Keep a Changelog, or that of unreleased changes. Throws if it has
 * neither.
 */
export function changesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const isOf = (section: string, name: string) =>
    new RegExp(`^## \\[?${name.replaceAll(/\W/g, "\\$&")}(?![\\w.])`).test(section);
  const found = sections.find((each) => isOf(each, version)) ?? sections.find((each) => isOf(each, "Unreleased"));
  if (found === undefined)
    throw new Error(`CHANGELOG.md has no section for ${version}, and none of unreleased changes.`);
  return `${found.trim()}\n`;
}

/**
 * The subjects of the commits after the last tag before `HEAD`, oldest first, as a section. Empty where there is no such
 * tag, and where `folder` is not a checkout's.
 */
export function commitsSinceTag(folder: string): string {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trimEnd();
  let tag: string;
  try {
    // A release that is built from its own tag has the commits since the tag before.
    tag = git("describe", "--tags", "--abbrev=0", "HEAD^");
  } catch {
    return "";
  }
  const subjects = git("log", "--reverse", "--no-merges", "--format=- %s", `${tag}..HEAD`);
  return `\n## Commits since ${tag}\n\n${subjects}\n`;
}
