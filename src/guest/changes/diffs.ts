import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Copies } from "./copies.ts";

/** The JSON of a turn's diffs, in bytes. */
const maximumBytes = 1024 * 1024;
/** The most files that are compared. */
const maximumFiles = 500;
/** The most output of diff(1) that is read, in UTF-16 units. */
const maximumOutput = 4 * 1024 * 1024;

/** The copies of a file before and after a turn, by hash; null where the file did not exist. */
export interface Versions {
  before: string | null;
  after: string | null;
}

/**
 * The hunks of a unified diff for each pair; null for those that exceed the limits. One run of diff(1) compares two folders
 * in which the files have numbers for names.
 */
export async function diffsOf(
  all: readonly (Versions | null)[],
  copies: Copies,
  folder: string,
  signal: AbortSignal,
): Promise<(string | null)[]> {
  const diffs = all.map((): string | null => null);
  if (all.every((versions) => versions === null)) return diffs;
  const place = await mkdtemp(join(folder, "diff-"));
  try {
    for (const side of ["before", "after"] as const) {
      await mkdir(join(place, side));
      let left = maximumFiles;
      for (const [number, versions] of all.entries()) {
        if (!versions || left-- <= 0) continue;
        if (versions[side] !== null) await copies.link(versions[side], join(place, side, String(number)));
      }
    }
    let bytes = 0;
    for (const [number, hunks] of hunksIn(await compare(place, signal))) {
      bytes += Buffer.byteLength(JSON.stringify(hunks));
      if (bytes <= maximumBytes && number < diffs.length) diffs[number] = hunks;
    }
    return diffs;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

function compare(place: string, signal: AbortSignal): Promise<string> {
  const child = spawn("diff", ["-r", "-u", "-N", "--text", "before", "after"], {
    cwd: place,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
    signal,
    killSignal: "SIGKILL",
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (output.length < maximumOutput) output += text;
    else child.kill("SIGKILL");
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => resolve(output));
  });
}

/** The hunks of each file by its number. Lines of files begin with a sign, so that a header cannot be confused. */
function* hunksIn(output: string): Generator<[number, string]> {
  // The file at the limit is incomplete.
  const whole = output.length < maximumOutput ? output : output.slice(0, output.lastIndexOf("\ndiff -r") + 1);
  // Not with `^`, which also matches after other line separators within a line.
  for (const part of whole.split(/(?<=\n)(?=diff -r )/)) {
    const number = Number(/^diff .* after\/(\d+)\n/.exec(part)?.[1] ?? Number.NaN);
    const start = part.indexOf("\n@@ ") + 1;
    if (Number.isInteger(number) && start > 0) yield [number, part.slice(start)];
  }
}
