import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { programPath } from "../checkout.ts";
import { CliError } from "../errors.ts";
import { runMachineTest } from "../machine-test.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { type Output, printable, styled, writeText } from "../terminal.ts";

/** One check, as a JSON line from the doctor's program. */
interface Check {
  name: string;
  ok: boolean;
  found: string;
  /** The problem, if the check failed. */
  problem?: string;
  /** The command that fixes it. */
  fix?: string;
}

interface DoctorOptions extends CommonOptions {
  machine?: true;
}

/** `berth doctor` */
export function register(program: Command): void {
  program
    .command("doctor")
    .description("check this machine for what Berth needs, and show how to fix problems")
    .option("--machine", "instead, test virtual machines: some five minutes, in a folder of their own")
    .addOption(jsonOption())
    .action(async ({ machine, json }: DoctorOptions) => {
      if (machine) {
        if (!(await runMachineTest(json ?? false))) process.exitCode = 1;
        return;
      }
      const failed = await runChecks(json ?? false);
      if (failed > 0) process.exitCode = 1;
    });
}

/**
 * Runs the checks, shows each as it finishes and returns the number that failed. Throws `CliError` if they end early.
 */
async function runChecks(json: boolean): Promise<number> {
  const { stdout } = process;
  const child = spawn(process.execPath, [programPath("doctor.ts")], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  let failed = 0;
  let checks = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const check = parseCheck(line);
    if (check === null) continue;
    checks++;
    if (!check.ok) failed++;
    if (json) writeText(stdout, `${line}\n`);
    else stdout.write(formatCheck(stdout, check));
  }
  const [code, signal] = await closed;
  if (checks === 0 || (code !== 0 && failed === 0)) {
    throw new CliError(`The checks ended early (${signal ?? `exit code ${code}`}).`);
  }
  return failed;
}

/** A check and its result. A failed check also shows the problem and the fix. */
function formatCheck(output: Output, { name, ok, found, problem, fix }: Check): string {
  const mark = ok ? styled(output, "green", "✔") : styled(output, "red", "✘");
  const lines = [`${mark} ${printable(name).padEnd(16)} ${printable(found)}`.trimEnd()];
  if (!ok && problem) lines.push(`    ${printable(problem)}`);
  if (!ok && fix) lines.push(`    to mend it: ${styled(output, "bold", printable(fix))}`);
  return `${lines.join("\n")}\n`;
}

/** Null for a line that is not a check. */
function parseCheck(line: string): Check | null {
  try {
    const check: unknown = JSON.parse(line);
    return typeof check === "object" && check !== null && "name" in check && "ok" in check ? (check as Check) : null;
  } catch {
    return null;
  }
}
