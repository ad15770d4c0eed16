import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

/** `berth ports AGENT` */
export function register(program: Command): void {
  program
    .command("ports")
    .description("list what listens in an agent's machine")
    .argument("<agent>", "the agent's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const ports = await connect(readEnvironment()).agent(name).ports.list();
      if (json) return writeJson(process.stdout, ports);
      if (ports.length === 0) return note(`Nothing listens in the machine of ${name}.`);
      const rows = ports.map(({ port, address, program: listener, pid, since }) => [
        String(port),
        address,
        listener === null ? "" : `${printable(listener)} (${pid})`,
        since === null ? "" : localTime(since),
      ]);
      process.stdout.write(formatTable(process.stdout, ["PORT", "ADDRESS", "PROGRAM", "SINCE"], rows));
    });
}
