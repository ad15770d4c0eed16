import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Finding } from "../../src/contract/finding.ts";

/** The tool of this checkout. */
export const berth = join(import.meta.dirname, "../../berth");

/** The exit of `berth doctor --kubernetes`. `environment` names the cluster and has the settings. */
export async function doctor(
  environment: Record<string, string>,
  args: string[] = [],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const run = promisify(execFile)(berth, ["doctor", "--kubernetes", ...args], {
    env: { PATH: process.env.PATH, ...environment },
  });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

/** Its findings, by the names of its checks. */
export async function findings(environment: Record<string, string>): Promise<Record<string, Finding>> {
  const { stdout, stderr } = await doctor(environment, ["--json"]);
  if (stderr !== "") throw new Error(stderr);
  const lines = stdout.trimEnd().split("\n");
  const all = lines.map((line) => JSON.parse(line) as Finding);
  return Object.fromEntries(all.map((each) => [each.name, each]));
}
