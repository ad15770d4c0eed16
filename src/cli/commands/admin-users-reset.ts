import type { Command } from "commander";
import type { UserWithLink } from "../../contract/users.ts";
import { Client, userPath } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { writeJson } from "../terminal.ts";
import { showLink } from "./admin-users-add.ts";

/** `berth admin users reset NAME` */
export function registerUsersReset(users: Command): void {
  users
    .command("reset")
    .description("take a user's password and sign-ins away, and show a link for a new password")
    .argument("<name>", "the user's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const path = userPath(name);
      const client = await Client.connect(readEnvironment());
      const user = await client.json<UserWithLink>("POST", `${path}/reset`);
      if (json) writeJson(process.stdout, user);
      else showLink(user);
    });
}
