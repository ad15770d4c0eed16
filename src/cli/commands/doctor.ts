import { Option } from "commander";
import { Finding } from "../../contract/finding.ts";
import { type MachineReport, MachineReportLine, type MachineStep } from "../../contract/machine-report.ts";
import type { ToolCommand } from "../command.ts";
import { CliError } from "../errors.ts";
import { Progress } from "../progress.ts";
import { runProgram } from "../server-process.ts";
import { printable, styled, writeJson, writeText } from "../terminal.ts";

interface DoctorOptions {
  machine?: true;
  kubernetes?: true;
  json?: boolean;
}

export function register(program: ToolCommand): void {
  const cluster = new Option("--kubernetes", "instead, check the cluster of KUBECONFIG, as BERTH_KUBERNETES_* set it");
  program
    .add("doctor", "check this machine for what Berth needs, and show how to fix problems")
    .option("--machine", "instead, test virtual machines: about five minutes, in a folder of their own")
    .addOption(cluster.conflicts("machine"))
    .runs(async ({ machine, kubernetes, json = false }: DoctorOptions) => {
      const checks = kubernetes ? "doctor/kubernetes.ts" : "doctor/host.ts";
      const passed = await (machine ? runMachineTest(json) : runChecks(checks, json));
      if (!passed) process.exitCode = 1;
    });
}

/**
 * Runs a program of checks, shows each as it finishes and returns whether all passed. Throws `CliError` if the program
 * ends early.
 */
async function runChecks(program: string, json: boolean): Promise<boolean> {
  let failed = 0;
  let checks = 0;
  const [code, signal] = await runProgram(program, (line) => {
    const check = parseCheck(line);
    if (check === null) return;
    checks++;
    if (!check.ok) failed++;
    if (json) writeText(process.stdout, `${line}\n`);
    else console.log(checkText(check));
  });
  if (checks === 0 || (code !== 0 && failed === 0)) {
    throw new CliError(`The checks ended early (${signal ?? `exit code ${code}`}).`);
  }
  return failed === 0;
}

/** A check and its result: a remark or, if it failed, the problem and the fix. */
function checkText({ name, ok, found, note, problem, fix }: Finding): string {
  const lines = [resultLine(name, ok, found)];
  if (note) lines.push(`    ${printable(note)}`);
  if (!ok && problem) lines.push(`    ${printable(problem)}`);
  if (!ok && fix) lines.push(`    to fix it: ${styled(process.stdout, "bold", printable(fix))}`);
  return lines.join("\n");
}

function resultLine(name: string, ok: boolean, found: string): string {
  const mark = ok ? styled(process.stdout, "green", "✔") : styled(process.stdout, "red", "✘");
  return `${mark} ${printable(name).padEnd(16)} ${printable(found)}`.trimEnd();
}

/** Null for a line that is not a check. */
function parseCheck(line: string): Finding | null {
  try {
    return Finding.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

/**
 * Runs the machines' self-test and shows each check as it finishes or, with `json`, the report at the end. Returns
 * whether all checks passed. Throws `CliError` if the test ends early, as by Ctrl-C.
 */
async function runMachineTest(json: boolean): Promise<boolean> {
  let progress = new Progress(process.stderr);
  let report: MachineReport | undefined;
  const take = (text: string) => {
    const line = MachineReportLine.parse(JSON.parse(text));
    if ("doing" in line) progress.show(line.doing);
    else if ("report" in line) report = line.report;
    else if (!json) {
      progress[Symbol.dispose](); // Erases its line, which the check replaces.
      progress = new Progress(process.stderr);
      console.log(stepText(line.step));
    }
  };
  try {
    await runProgram("doctor/machine.ts", take, { cleansUp: true });
  } finally {
    progress[Symbol.dispose]();
  }
  if (!report) throw new CliError("The machine test ended early.");
  if (json) writeJson(process.stdout, report);
  else console.log(reportText(report));
  return report.steps.every(({ ok }) => ok);
}

function stepText({ name, ok, found, problem }: MachineStep): string {
  const line = resultLine(name, ok, found);
  return problem === undefined ? line : `${line}\n    ${printable(problem)}`;
}

function reportText({ host, qemu, accelerator, guest, seconds, steps, notes }: MachineReport): string {
  const failed = steps.filter(({ ok }) => !ok).length;
  const counted = failed === 0 ? `All ${steps.length} checks passed` : `${failed} of ${steps.length} checks failed`;
  const words = [
    ...notes,
    `${counted} in ${seconds} s.`,
    `${host.cpus} × ${host.cpu}, Linux ${host.kernel}, ${qemu}, ${accelerator ?? "no accelerator"}, guest Linux ${guest?.kernel ?? "none"}`,
    "To share this: berth doctor --machine --json >machine.json",
  ];
  return `\n${words.map(printable).join("\n")}`;
}
