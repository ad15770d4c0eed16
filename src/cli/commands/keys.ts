import type { Key } from "@berth/client";
import { Option } from "commander";
import { isUuid } from "../../contract/ids.ts";
import { roles } from "../../contract/workspaces.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { repeatable } from "../options.ts";
import { futureTime, localTime } from "../time.ts";

interface CreateOptions {
  name?: string;
  kind?: Key["kind"];
  role?: Key["role"];
  agent?: string[];
  expires?: string;
  creditLimit?: string;
}

const kinds: Key["kind"][] = ["full", "agent"];

export function register(program: ToolCommand): void {
  const keys = program.add("keys", "manage API keys");
  keys.add("list", "list your keys, newest first").lists({
    list: () => connect().keys.list().take(),
    empty: "There are no keys. To create one: berth keys create",
    columns: {
      ID: "id",
      NAME: "name",
      KIND: "kind",
      ROLE: "role",
      "BEGINS WITH": ({ keyPrefix }) => `${keyPrefix}…`,
      AGENTS: ({ agents }) => (agents === null ? "all" : agents.join(", ") || "none"),
      "LAST USED": ({ lastUsedAt }) => localTime(lastUsedAt, "never"),
      EXPIRES: ({ expiresAt }) => localTime(expiresAt, "never"),
    },
  });
  const kindHelp = "full: everything that you may do; agent: only chats with some agents";
  const expiryHelp = "when it expires: in hours (12h), in days (90d) or at a time (2030-01-31)";
  keys
    .add("create", "create a key and print it once")
    .option("-n, --name <name>", "a name for the key")
    .addOption(new Option("-k, --kind <kind>", kindHelp).choices(kinds))
    .addOption(new Option("-r, --role <role>", "its role in the workspace; by default yours").choices(roles))
    .addOption(repeatable("-a, --agent <name>", "limit the key to this agent; can be repeated"))
    .option("-e, --expires <time>", expiryHelp, futureTime)
    .option("-c, --credit-limit <credits>", "the most that all turns started with an agent key may cost")
    .prints(
      ({ name, kind, role, agent: agents, expires: expiresAt, creditLimit }: CreateOptions) =>
        connect().keys.create({
          name,
          kind: kind ?? (agents ? "agent" : "full"),
          role,
          agents,
          expiresAt,
          creditLimit,
        }),
      ({ key }) => {
        console.log(key);
        console.error("Store the key now: it is not shown again.");
      },
    );
  keys
    .add("revoke <id>", "revoke a key", { id: "the key's id (see berth keys list)" })
    .confirms((id: string) => {
      // It may be the key itself, which must not be echoed.
      if (!isUuid(id)) throw new CliError("Not a valid key id. List the ids with: berth keys list", 2);
      return `Revoke the key ${id} permanently?`;
    }, "Nothing was revoked.")
    .prints(
      (id: string) => connect().keys.revoke(id),
      (_, id) => `The key ${id} was revoked.`,
    );
}
