import type { Runtime } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";

/** `berth runtimes` */
export function register(program: Command): void {
  program
    .command("runtimes")
    .description("list the runtimes that agents can use, and their limits")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const runtimes = await client.runtimes();
      if (json) return writeJson(process.stdout, { data: runtimes, nextCursor: null });
      process.stdout.write(runtimeTable(runtimes));
      const limits = runtimes.flatMap(limitsOf);
      if (limits.length > 0) process.stdout.write(`\n${limitTable(limits)}`);
    });
}

function runtimeTable(runtimes: readonly Runtime[]): string {
  const rows = runtimes.map(({ name, version, defaultModel }) => [
    name,
    version ?? "unknown",
    defaultModel ?? "its own choice",
  ]);
  return formatTable(process.stdout, ["NAME", "VERSION", "DEFAULT MODEL"], rows);
}

function limitTable(limits: string[][]): string {
  return formatTable(process.stdout, ["RUNTIME", "CANNOT", "WHY"], limits);
}

/** One row for each thing a runtime cannot do, or can do only in some cases. */
function limitsOf({ name, abilities }: Runtime): string[][] {
  return Object.entries(abilities)
    .filter(([, { supported, reason }]) => !supported || reason !== null)
    .map(([ability, { supported, reason }]) => [name, supported ? `${ability} (in part)` : ability, reason ?? ""]);
}
