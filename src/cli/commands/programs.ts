import type { Program } from "@berth/client";
import type { Command } from "commander";
import { isUuid } from "../../contract/ids.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { type Cell, formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface EndOptions extends CommonOptions {
  yes?: true;
}

/** `berth programs …` */
export function register(programs: Command): void {
  programs
    .command("list")
    .description("list the programs that you have signed in, last used first")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const data = await connect(readEnvironment()).programs.list();
      if (json) return writeJson(process.stdout, data);
      if (data.length === 0) return note("No program is signed in.");
      const headings = ["ID", "NAME", "DOCUMENT", "SIGNED IN", "LAST USED"];
      process.stdout.write(formatTable(process.stdout, headings, data.map(rowOf)));
    });
  programs
    .command("end")
    .description("end a program's sign-ins")
    .argument("<id>", "the program's id (see berth programs list)")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(async (id: string, { yes, json }: EndOptions) => {
      if (!isUuid(id)) throw new CliError("This is not a program's id. List them with: berth programs list", 2);
      const client = connect(readEnvironment());
      if (!yes) await requireConsent(`End the sign-ins of the program ${id}?`, "Nothing was ended.");
      await client.programs.end(id);
      if (json) writeJson(process.stdout, null);
      else note("The program is signed out.");
    });
}

function rowOf({ id, name, address, signedInAt, lastUsedAt }: Program): Cell[] {
  return [id, name, address ?? "none", localTime(signedInAt), localTime(lastUsedAt)];
}
