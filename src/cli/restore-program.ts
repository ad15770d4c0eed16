import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { programPath } from "./checkout.ts";
import { CliError } from "./errors.ts";
import { Progress } from "./progress.ts";

/** What a backup says of itself. */
export interface BackupFacts {
  berth: string;
  createdAt: string;
  settings: Record<string, string>;
  machines: { name: string }[];
  leftOut: { agent: string; reason: string }[];
}

interface Lines {
  doing?: string;
  failed?: string;
  restored?: BackupFacts & { dataFolder: string };
  verified?: BackupFacts & { files: number; bytes: number };
}

/** Runs the service's own program for backups with this process's input. Throws `CliError` with what it says. */
export async function runRestoreProgram<Result extends "restored" | "verified">(
  result: Result,
  args: readonly string[],
): Promise<NonNullable<Lines[Result]>> {
  using progress = new Progress(process.stderr);
  const child = spawn(process.execPath, [programPath("restore.ts"), ...args], {
    stdio: ["inherit", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  // It ends by the terminal's Ctrl-C too, and empties the folder first.
  const wait = () => {};
  process.on("SIGINT", wait);
  let last: Lines = {};
  for await (const text of createInterface({ input: child.stdout })) {
    last = JSON.parse(text) as Lines;
    if (last.doing) progress.show(last.doing);
  }
  await closed;
  process.off("SIGINT", wait);
  const found = last[result];
  if (found) return found;
  throw new CliError(last.failed ?? "The program ended early.");
}
