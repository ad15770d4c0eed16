import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { writeJson } from "../terminal.ts";
import { showLink } from "./admin-users-add.ts";

/** `berth admin users reset NAME` */
export function register(users: Command): void {
  users
    .command("reset")
    .description("reset a user's password: sign the user out and print a link to set a new one")
    .argument("<name>", "the user's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const user = await client.admin.resetUser(name);
      if (json) writeJson(process.stdout, user);
      else showLink(user);
    });
}
