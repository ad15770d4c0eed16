import type { Command } from "commander";
import type { UserRecord } from "../../contract/users.ts";
import { Client, userPath } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

/** `berth admin users disable NAME` and `enable NAME` */
export function registerUsersDisable(users: Command): void {
  const verbs = {
    disable: { description: "refuse a user and the keys of its account, at once", done: "is disabled" },
    enable: { description: "let a user in again", done: "is let in again" },
  };
  for (const [verb, { description, done }] of Object.entries(verbs)) {
    users
      .command(verb)
      .description(description)
      .argument("<name>", "the user's name")
      .addOption(jsonOption())
      .action(async (name: string, { json }: CommonOptions) => {
        const path = userPath(name);
        const client = await Client.connect(readEnvironment());
        const user = await client.json<UserRecord>("POST", `${path}/${verb}`);
        if (json) writeJson(process.stdout, user);
        else console.log(`${printable(user.name)} ${done}.`);
      });
  }
}
