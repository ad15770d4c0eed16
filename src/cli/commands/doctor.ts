import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type Command, Option } from "commander";
import { Finding } from "../../contract/finding.ts";
import { programPath } from "../checkout.ts";
import { CliError } from "../errors.ts";
import { runMachineTest } from "../machine-test.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { type Output, printable, styled, writeText } from "../terminal.ts";

interface DoctorOptions extends CommonOptions {
  machine?: true;
  kubernetes?: true;
}

/** `berth doctor` */
export function register(program: Command): void {
  program
    .command("doctor")
    .description("check this machine for what Berth needs, and show how to fix problems")
    .option("--machine", "instead, test virtual machines: some five minutes, in a folder of their own")
    .addOption(
      new Option("--kubernetes", "instead, check the cluster of KUBECONFIG, as BERTH_KUBERNETES_* set it").conflicts(
        "machine",
      ),
    )
    .addOption(jsonOption())
    .action(async ({ machine, kubernetes, json }: DoctorOptions) => {
      if (machine) {
        if (!(await runMachineTest(json ?? false))) process.exitCode = 1;
        return;
      }
      const failed = await runChecks(kubernetes ? "doctor-kubernetes.ts" : "doctor.ts", json ?? false);
      if (failed > 0) process.exitCode = 1;
    });
}

/**
 * Runs a program of checks, shows each as it finishes and returns the number that failed. Throws `CliError` if they end
 * early.
 */
async function runChecks(program: string, json: boolean): Promise<number> {
  const { stdout } = process;
  const child = spawn(process.execPath, [programPath(program)], { stdio: ["ignore", "pipe", "inherit"] });
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

/** A check and its result: what to know of it or, if it failed, the problem and the fix. */
function formatCheck(output: Output, { name, ok, found, note, problem, fix }: Finding): string {
  const mark = ok ? styled(output, "green", "✔") : styled(output, "red", "✘");
  const lines = [`${mark} ${printable(name).padEnd(16)} ${printable(found)}`.trimEnd()];
  if (note) lines.push(`    ${printable(note)}`);
  if (!ok && problem) lines.push(`    ${printable(problem)}`);
  if (!ok && fix) lines.push(`    to mend it: ${styled(output, "bold", printable(fix))}`);
  return `${lines.join("\n")}\n`;
}

/** Null for a line that is not a check. */
function parseCheck(line: string): Finding | null {
  try {
    return Finding.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
