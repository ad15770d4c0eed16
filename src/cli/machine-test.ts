import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type MachineReport, MachineReportLine, type MachineStep } from "../contract/machine-report.ts";
import { programPath } from "./checkout.ts";
import { CliError } from "./errors.ts";
import { Progress } from "./progress.ts";
import { type Output, printable, styled, writeJson, writeText } from "./terminal.ts";

/**
 * Runs the machines' self-test and shows each check as it finishes or, with `json`, the report at the end. Returns
 * whether all checks passed. Throws `CliError` if the test ends early, as by Ctrl-C.
 */
export async function runMachineTest(json: boolean): Promise<boolean> {
  const { stdout } = process;
  // The test ends by the terminal's Ctrl-C too, and removes its machines first.
  const wait = () => {};
  process.on("SIGINT", wait);
  let progress = new Progress(process.stderr);
  let report: MachineReport | null = null;
  try {
    const child = spawn(process.execPath, [programPath("doctor-machine.ts")], { stdio: ["ignore", "pipe", "inherit"] });
    const closed = once(child, "close");
    for await (const text of createInterface({ input: child.stdout })) {
      const line = MachineReportLine.parse(JSON.parse(text));
      if ("doing" in line) progress.show(line.doing);
      else if ("report" in line) report = line.report;
      else if (!json) {
        progress[Symbol.dispose](); // Erases its line, which the check takes.
        progress = new Progress(process.stderr);
        writeText(stdout, formatStep(stdout, line.step));
      }
    }
    await closed;
  } finally {
    progress[Symbol.dispose]();
    process.off("SIGINT", wait);
  }
  if (!report) throw new CliError("The test of machines ended early.");
  if (json) writeJson(stdout, report);
  else writeText(stdout, formatEnd(report));
  return report.steps.every(({ ok }) => ok);
}

function formatStep(output: Output, { name, ok, found, problem }: MachineStep): string {
  const mark = ok ? styled(output, "green", "✔") : styled(output, "red", "✘");
  const line = `${mark} ${printable(name).padEnd(16)} ${printable(found)}\n`;
  return problem === undefined ? line : `${line}    ${printable(problem)}\n`;
}

function formatEnd({ host, qemu, accelerator, guest, seconds, steps, notes }: MachineReport): string {
  const failed = steps.filter(({ ok }) => !ok).length;
  const counted = failed === 0 ? `All ${steps.length} checks passed` : `${failed} of ${steps.length} checks failed`;
  const words = [
    ...notes,
    `${counted} in ${seconds} s.`,
    `${host.cpus} × ${host.cpu}, Linux ${host.kernel}, ${qemu}, ${accelerator ?? "no accelerator"}, guest Linux ${guest?.kernel ?? "none"}`,
    "To send this to others: berth doctor --machine --json >machine.json",
  ];
  return `\n${words.map(printable).join("\n")}\n`;
}
