import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

const headings = ["ID", "RUNTIMES", "INPUT CREDITS/M", "OUTPUT CREDITS/M"];

/** `berth models` */
export function register(program: Command): void {
  program
    .command("models")
    .description("list the models that agents can use")
    .addOption(jsonOption())
    .addHelpText("after", "\nThe prices are credits for a million tokens (CREDITS/M).")
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const models = await client.models().take();
      if (json) return writeJson(process.stdout, models);
      if (models.data.length === 0) return note("There are no models that the service can reach.");
      const rows = models.data.map(({ id, runtimes, inputPrice, outputPrice }) => [
        id,
        runtimes.join(", ") || "none",
        inputPrice ?? "unknown",
        outputPrice ?? "unknown",
      ]);
      process.stdout.write(formatTable(process.stdout, headings, rows));
    });
}
