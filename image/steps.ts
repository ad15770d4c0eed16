import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

/** A folder with enough space: /tmp may be in memory. */
export const workPlace = "/var/tmp";

const started = Date.now();
const running = new Set<ChildProcess>();

export function endPrograms(): void {
  for (const child of running) child.kill();
}

export async function step(name: string, work: () => Promise<void>): Promise<void> {
  const begun = Date.now();
  console.log(`  ${name} …`);
  await work();
  console.log(`  ${name} done (${elapsed(begun)})`);
}

/**
 * Runs a program. Its output is shown if it fails. With `steps`, its steps are shown as they arrive.
 */
export function run(
  program: string,
  args: string[],
  { cwd, steps }: { cwd?: string; steps?: boolean } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { ...buildEnvironment(), TMPDIR: workPlace };
    const child = spawn(program, args, { ...(cwd ? { cwd } : {}), env, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    const tail: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        const name = steps ? stepOf(line) : undefined;
        if (name) console.log(`    ${name} (${elapsed()})`);
        tail.push(line);
        if (tail.length > 40) tail.shift();
      });
    }
    child.on("error", reject);
    child.on("close", (code) => {
      running.delete(child);
      if (code === 0) return resolve();
      reject(new Error(`${program} ended with ${code}:\n${tail.join("\n")}`));
    });
  });
}

/** The step that begins, in the words of customize.sh or mmdebstrap. */
function stepOf(line: string): string | undefined {
  return (/^berth-step (.*)$/.exec(line) ?? /^I: ((?:downloading|extracting|installing) .*)\.\.\.$/.exec(line))?.[1];
}

/** The environment of package tools: paths, and access to the network. No keys. */
function buildEnvironment(): Record<string, string> {
  const needed =
    /^(PATH|HOME|USER|LOGNAME|LANG|(all|ftp|https?|no)_proxy|npm_config_.*|NODE_EXTRA_CA_CERTS|SSL_CERT_.*)$/i;
  const found = Object.entries(process.env).filter(([name, value]) => needed.test(name) && value !== undefined);
  const environment = Object.fromEntries(found) as Record<string, string>;
  // The repository's own may be just being installed.
  return { ...environment, PATH: `${dirname(process.execPath)}:${environment.PATH}` };
}

/** The time since the build began, or since a later moment. */
export function elapsed(since = started): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
