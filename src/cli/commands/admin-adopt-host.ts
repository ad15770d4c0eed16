import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { programPath } from "../checkout.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { formatTable } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface AdoptOptions extends CommonOptions {
  yes?: true;
}

interface Found {
  orphans: { id: string; kind: string }[];
  dataFolder: string;
}

/** `berth admin adopt-host` */
export function register(admin: Command): void {
  admin
    .command("adopt-host")
    .description("let the server start although its host has files without a row; no server may run")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(async ({ yes, json }: AdoptOptions) => {
      const { orphans, dataFolder } = await runProgram([]);
      if (orphans.length > 0 && !json) {
        const rows = orphans.map(({ kind, id }) => [kind, id]);
        process.stdout.write(formatTable(process.stdout, ["KIND", "ID"], rows));
      }
      if (orphans.length > 0) {
        const question = `The next start moves these files of ${printable(dataFolder)} to the quarantine. Continue?`;
        if (!yes) await requireConsent(question, "Nothing was changed.");
        await runProgram(["--accept"]);
      }
      if (json) return writeJson(process.stdout, { orphans, dataFolder });
      if (orphans.length === 0)
        return note("Every machine, snapshot and import of this host has a row in the database.");
      console.log("The server may start: berth up. Then: berth admin orphans list");
    });
}

async function runProgram(args: readonly string[]): Promise<Found> {
  const child = spawn(process.execPath, [programPath("adopt-host.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = (await text(child.stdout)).trim().split("\n");
  const last = JSON.parse(lines.at(-1) || "{}") as Partial<Found> & { failed?: string };
  if (last.orphans && last.dataFolder) return { orphans: last.orphans, dataFolder: last.dataFolder };
  throw new CliError(last.failed ?? "The program ended early.");
}
