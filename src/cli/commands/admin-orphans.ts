import type { Command } from "commander";
import { Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { formatTable } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface GiveBackOptions extends CommonOptions {
  user?: string;
  account?: string;
}

interface RemoveOptions extends CommonOptions {
  yes?: true;
}

const headings = ["ID", "KIND", "AGENT", "RUNTIME", "SIZE", "SINCE", "REMOVED"];
const mebibyte = 1024 ** 2;

/** `berth admin orphans list`, `give-back` and `remove` */
export function register(orphans: Command): void {
  orphans
    .command("list")
    .description("list the quarantine: files of this host that no row of the database named")
    .addOption(jsonOption())
    .action(list);
  orphans
    .command("give-back")
    .description("make an agent of a quarantined machine or snapshot")
    .argument("<id>", "the id in the list")
    .argument("<name>", "the name of the new agent")
    .addOption(new Option("--user <name>", "the user who gets the agent (default: you)"))
    .addOption(new Option("--account <id>", "the account that gets the agent").conflicts("user"))
    .addOption(jsonOption())
    .action(giveBack);
  orphans
    .command("remove")
    .description("remove files from the quarantine permanently")
    .argument("<id>", "the id in the list")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(remove);
}

async function list({ json }: CommonOptions): Promise<void> {
  const all = await connect(readEnvironment()).admin.orphans();
  if (json) return writeJson(process.stdout, { data: all });
  if (all.length === 0) return note("The quarantine is empty.");
  const rows = all.map(({ id, kind, agent, runtime, bytes, quarantinedAt, removedAt }) => [
    id,
    kind,
    agent === null ? "-" : printable(agent),
    runtime ?? "-",
    `${Math.ceil(bytes / mebibyte)} MiB`,
    localTime(quarantinedAt),
    localTime(removedAt),
  ]);
  process.stdout.write(formatTable(process.stdout, headings, rows));
}

async function giveBack(id: string, name: string, { user, account, json }: GiveBackOptions): Promise<void> {
  const owner = { ...(user === undefined ? {} : { user }), ...(account === undefined ? {} : { account }) };
  const agent = await connect(readEnvironment()).admin.giveBackOrphan(id, { name, ...owner });
  if (json) writeJson(process.stdout, agent);
  else console.log(`${printable(agent.name)} is there again, asleep.`);
}

async function remove(id: string, { yes, json }: RemoveOptions): Promise<void> {
  const client = connect(readEnvironment());
  if (!yes) await requireConsent(`Remove the files of ${printable(id)} permanently?`, "Nothing was removed.");
  await client.admin.removeOrphan(id);
  if (json) writeJson(process.stdout, null);
  else console.log("The files are removed.");
}
