import listed from "../../image/runtimes/package.json" with { type: "json" };

/** The runtimes of an installation that does not set `BERTH_RUNTIMES`. */
const usualRuntimes = ["claude-code", "opencode", "codex"];

const known = Object.keys(listed.runtimes);

/** The runtimes that a value of `BERTH_RUNTIMES` lists, the default of new agents first. Throws for unknown names. */
export function chosenRuntimes(value: string | undefined): string[] {
  if (!value) return usualRuntimes;
  const names = value.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return [...new Set(names)];
  const wrong = unknown === "" ? "A name is empty" : `There is no runtime ${unknown}`;
  throw new Error(`${wrong}. Names with commas between them are allowed: ${known.join(", ")}.`);
}
