import type { User } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatTable } from "../table.ts";
import { type Style, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

const statusStyles: Record<User["status"], Style> = { invited: "yellow", active: "green", disabled: "red" };

/** `berth admin users list` */
export function register(users: Command): void {
  users
    .command("list")
    .description("list the users")
    .addOption(jsonOption())
    .action(async ({ json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const all = await client.admin.users().take();
      if (json) return writeJson(process.stdout, all);
      if (all.data.length === 0) return note("There are no users yet. To add one: berth admin users add NAME");
      const rows = all.data.map(({ name, status, operator, createdAt }) => [
        name,
        { text: status, style: statusStyles[status] ?? "reset" },
        operator ? "yes" : "no",
        createdAt,
      ]);
      process.stdout.write(formatTable(process.stdout, ["NAME", "STATUS", "OPERATOR", "CREATED"], rows));
    });
}
