import type { Command } from "commander";
import { routes } from "../../api/routes.ts";
import { connect } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

/** `berth admin users disable NAME` and `enable NAME` */
export function registerUsersDisable(users: Command): void {
  const verbs = {
    disable: {
      description: "refuse a user and the keys of its account, at once",
      done: "is disabled",
      route: routes.disableUser,
    },
    enable: { description: "let a user in again", done: "is let in again", route: routes.enableUser },
  };
  for (const [verb, { description, done, route }] of Object.entries(verbs)) {
    users
      .command(verb)
      .description(description)
      .argument("<name>", "the user's name")
      .addOption(jsonOption())
      .action(async (name: string, { json }: CommonOptions) => {
        const client = connect(readEnvironment());
        const user = await client.call(route, { params: { name } });
        if (json) writeJson(process.stdout, user);
        else console.log(`${printable(user.name)} ${done}.`);
      });
  }
}
