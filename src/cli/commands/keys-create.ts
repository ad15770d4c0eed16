import type { CreatedKey, Key } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { writeJson } from "../terminal.ts";
import { futureTime } from "../time.ts";

interface CreateOptions extends CommonOptions {
  name?: string;
  kind?: CreatedKey["kind"];
  agent?: string[];
  expires?: string;
  creditLimit?: string;
}

/** `berth keys create` */
export function register(keys: Command): void {
  keys
    .command("create")
    .description("create a key and print it once")
    .option("-n, --name <name>", "a name for the key")
    .addOption(
      new Option("-k, --kind <kind>", "full: all that you may do; agent: chats with some agents only").choices([
        "full",
        "agent",
      ] satisfies Key["kind"][]),
    )
    .option(
      "-a, --agent <name>",
      "an agent that it is for, and no others; can be repeated",
      (name, all: string[] = []) => all.concat(name),
    )
    .option(
      "-e, --expires <time>",
      "when it expires: in hours (12h), in days (90d) or at a time (2030-01-31)",
      futureTime,
    )
    .option("-c, --credit-limit <credits>", "the most that all turns started with an agent key may cost")
    .addOption(jsonOption())
    .action(createKey);
}

async function createKey({ name, kind, agent: agents, expires, creditLimit, json }: CreateOptions): Promise<void> {
  const client = connect(readEnvironment());
  const asked = { name, kind: kind ?? (agents ? "agent" : "full"), agents, expiresAt: expires, creditLimit };
  const created = await client.keys.create(asked);
  if (json) return writeJson(process.stdout, created);
  console.log(created.key);
  console.error("Keep the key now: it is not shown again.");
}
