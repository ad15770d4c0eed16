import type { UserWithLink } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

/** `berth admin users add NAME` */
export function register(users: Command): void {
  users
    .command("add")
    .description("add a user, and print a link to set a password")
    .argument("<name>", "the user's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const user = await client.admin.createUser({ name });
      if (json) writeJson(process.stdout, user);
      else showLink(user);
    });
}

/** Shows the link, which works once. */
export function showLink({ name, link }: UserWithLink): void {
  console.error(`With this link, once and within 72 hours, ${printable(name)} sets a password:`);
  console.log(printable(link));
}
