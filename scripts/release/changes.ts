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
