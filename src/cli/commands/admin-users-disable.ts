import type { Berth } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

/** `berth admin users disable NAME` and `enable NAME` */
export function register(users: Command): void {
  const verbs = {
    disable: {
      description: "refuse a user and the keys of its account, at once",
      done: "is disabled",
      change: (client: Berth, name: string) => client.admin.disableUser(name),
    },
    enable: {
      description: "let a user in again",
      done: "is let in again",
      change: (client: Berth, name: string) => client.admin.enableUser(name),
    },
  };
  for (const [verb, { description, done, change }] of Object.entries(verbs)) {
    users
      .command(verb)
      .description(description)
      .argument("<name>", "the user's name")
      .addOption(jsonOption())
      .action(async (name: string, { json }: CommonOptions) => {
        const user = await change(connect(readEnvironment()), name);
        if (json) writeJson(process.stdout, user);
        else console.log(`${printable(user.name)} ${done}.`);
      });
  }
}
