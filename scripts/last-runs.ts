// Keeps test/last-runs.md, a row for each target that CI does not run because it takes too long.
//
//   node scripts/last-runs.ts record TARGET PROGRAM [ARGUMENT…]   runs the program and writes the target's row
//   node scripts/last-runs.ts check                               fails if a row is missing, failed or too old

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const file = join(root, "test/last-runs.md");
const maximumDays = 30;
const maximumCommits = 200;

interface Run {
  target: string;
  /** `2026-11-27` */
  date: string;
  /** Abbreviated. Ends in `+` if files differed from it. */
  commit: string;
  result: string;
}

/** The rows of the table, which may be aligned. */
export function parseRuns(text: string): Run[] {
  return [...text.matchAll(/^\| `(\S+)` +\| (\S+) +\| (\S+) +\| (.*?) +\|$/gm)].map(
    ([, target, date, commit, result]) => ({
      target: target!,
      date: date!,
      commit: commit!,
      result: result!,
    }),
  );
}

/** `text` with this run in place of the target's last, or as a further row. */
export function withRun(text: string, { target, date, commit, result }: Run): string {
  const row = `| \`${target}\` | ${date} | ${commit} | ${result} |`;
  const old = new RegExp(`^\\| \`${target}\` +\\|.*$`, "m");
  return old.test(text) ? text.replace(old, row) : `${text.trimEnd()}\n${row}\n`;
}

/**
 * Says what is wrong with the last runs of these targets. `commitsSince` counts the commits after one, and is null for
 * one that the history lacks.
 */
export function findProblems(
  runs: readonly Run[],
  targets: readonly string[],
  today: Date,
  commitsSince: (commit: string) => number | null,
): string[] {
  return targets.flatMap((target) => {
    const run = runs.find((each) => each.target === target);
    if (!run) return [`make ${target} has no row. Run it.`];
    if (!/^[1-9]\d* passed, 0 failed(, \d+ skipped)?$/.test(run.result))
      return [`make ${target} failed when it last ran: ${run.result}.`];
    const days = Math.floor((today.getTime() - Date.parse(run.date)) / 86_400_000);
    const commits = commitsSince(run.commit.replace(/\+$/, ""));
    if (commits === null) return [`make ${target} last ran at ${run.commit}, a commit that the history lacks. Run it.`];
    if (days <= maximumDays && commits <= maximumCommits) return [];
    return [`make ${target} last ran ${days} days and ${commits} commits ago. Run it.`];
  });
}

/** Adds up all lines `N passed, N failed, N skipped` of an output. */
export function sumResults(output: string): string {
  const sum = (word: string) =>
    [...output.matchAll(/^\d+ passed, \d+ failed.*$/gm)]
      .map(([line]) => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0))
      .reduce((total, count) => total + count, 0);
  const skipped = sum("skipped");
  return `${sum("passed")} passed, ${sum("failed")} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

async function record(target: string, program: string, args: string[]): Promise<number> {
  const child = spawn(program, args, { stdio: ["inherit", "pipe", "inherit"] });
  const closed = once(child, "close");
  let output = "";
  for await (const part of child.stdout.setEncoding("utf8")) {
    process.stdout.write(part);
    output += part;
  }
  const [code, signal] = (await closed) as [number | null, string | null];
  const result = sumResults(output);
  const run = {
    target,
    date: new Date().toISOString().slice(0, 10),
    commit: git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain") === "" ? "" : "+"),
    result: code === 0 ? result : `${result}, ended with ${code ?? signal}`,
  };
  await writeFile(file, withRun(await readFile(file, "utf8"), run));
  return code ?? 1;
}

async function check(): Promise<number> {
  const makefile = await readFile(join(root, "Makefile"), "utf8");
  const targets = [...makefile.matchAll(/last-runs\.ts record (\S+)/g)].map(([, target]) => target!);
  // A squash or a shallow clone may lack the commit.
  const commitsSince = (commit: string) => {
    const { status, stdout } = spawnSync("git", ["rev-list", "--count", `${commit}..HEAD`], { cwd: root });
    return status === 0 ? Number(stdout) : null;
  };
  const problems = findProblems(parseRuns(await readFile(file, "utf8")), targets, new Date(), commitsSince);
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  const [command, target, program, ...args] = process.argv.slice(2);
  if (command === "check") process.exitCode = await check();
  else if (command === "record" && target && program) process.exitCode = await record(target, program, args);
  else {
    console.error("Usage: node scripts/last-runs.ts check | record TARGET PROGRAM [ARGUMENT…]");
    process.exitCode = 2;
  }
}
