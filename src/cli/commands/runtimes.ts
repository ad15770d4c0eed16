import type { Command } from "commander";
import { routes } from "../../api/routes.ts";
import type { RuntimeRecord } from "../../contract/runtimes.ts";
import { connect } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";

/** `berth runtimes` */
export function registerRuntimes(program: Command): void {
  program
    .command("runtimes")
    .description("list the runtimes that agents can use, and their limits")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const runtimes = await client.call(routes.listRuntimes);
      if (json) return writeJson(process.stdout, runtimes);
      process.stdout.write(runtimeTable(runtimes.data));
      const limits = runtimes.data.flatMap(limitsOf);
      if (limits.length > 0) process.stdout.write(`\n${limitTable(limits)}`);
    });
}

function runtimeTable(runtimes: readonly RuntimeRecord[]): string {
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
function limitsOf({ name, abilities }: RuntimeRecord): string[][] {
  return Object.entries(abilities)
    .filter(([, { supported, reason }]) => !supported || reason !== null)
    .map(([ability, { supported, reason }]) => [name, supported ? `${ability} (in part)` : ability, reason ?? ""]);
}
