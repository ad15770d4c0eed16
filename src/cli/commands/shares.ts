import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

/** `berth shares …` */
export function register(shares: Command): void {
  shares
    .command("list")
    .description("list the public links to an agent's pages")
    .argument("<agent>", "the agent's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const data = await connect(readEnvironment()).agent(name).ports.shares();
      if (json) return writeJson(process.stdout, data);
      if (data.length === 0) return note(`${name} shares nothing. To share a page: berth share ${name} PORT`);
      const rows = data.map(({ id, port, createdAt, expiresAt }) => [
        id,
        String(port),
        localTime(createdAt),
        expiresAt === null ? "never" : localTime(expiresAt),
      ]);
      process.stdout.write(formatTable(process.stdout, ["ID", "PORT", "MADE", "ENDS"], rows));
    });
  shares
    .command("remove")
    .description("end a public link")
    .argument("<agent>", "the agent's name")
    .argument("<id>", "the link's id")
    .addOption(jsonOption())
    .action(async (name: string, id: string, { json }: CommonOptions) => {
      await connect(readEnvironment()).agent(name).ports.removeShare(id);
      if (json) writeJson(process.stdout, null);
      else note("The link has ended.");
    });
}
