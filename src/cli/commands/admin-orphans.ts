import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { Option } from "commander";
import { programPath } from "../checkout.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { tableText } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

const mebibyte = 1024 ** 2;

/** The files of a host without a row, as the program that adopts hosts reports them. */
interface Found {
  orphans: { id: string; kind: string }[];
  dataFolder: string;
}

/** Adds `berth admin adopt-host`. */
export function addAdoptHost(admin: ToolCommand): void {
  admin
    .command("adopt-host")
    .description("let the server start although its host has orphaned files; no server may run")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(adoptHost);
}

/** Adds `berth admin orphans`. */
export function addOrphanCommands(admin: ToolCommand): void {
  const orphans = admin.command("orphans").description("list, recover and remove quarantined files");
  orphans
    .command("list")
    .description("list the quarantine: files of this host that belong to no row of the database")
    .prints(
      async () => ({ data: await connect().admin.orphans() }),
      ({ data }) => {
        if (data.length === 0) return note("The quarantine is empty.");
        return tableText(
          {
            ID: "id",
            KIND: "kind",
            AGENT: ({ agent }) => agent ?? "-",
            RUNTIME: ({ runtime }) => runtime ?? "-",
            SIZE: ({ bytes }) => `${Math.ceil(bytes / mebibyte)} MiB`,
            SINCE: ({ quarantinedAt }) => localTime(quarantinedAt),
            REMOVED: ({ removedAt }) => localTime(removedAt),
          },
          data,
        );
      },
    );
  orphans
    .command("give-back")
    .description("recover a quarantined machine or snapshot as an agent")
    .argument("<id>", "the id in the list")
    .argument("<name>", "the name of the new agent")
    .addOption(new Option("--user <name>", "the user who gets the agent (default: you)"))
    .addOption(new Option("--account <id>", "the account that gets the agent").conflicts("user"))
    .prints(
      (id: string, name: string, { user, account }: { user?: string; account?: string }) =>
        connect().admin.giveBackOrphan(id, { name, user, account }),
      ({ name }) => `${printable(name)} was recovered and is suspended.`,
    );
  orphans
    .command("remove")
    .description("remove files from the quarantine permanently")
    .argument("<id>", "the id in the list")
    .confirms((id: string) => `Remove the files of ${printable(id)} permanently?`, "Nothing was removed.")
    .prints(
      (id: string) => connect().admin.removeOrphan(id),
      () => "The files are removed.",
    );
}

async function adoptHost({ yes, json }: CommonOptions & { yes?: true }): Promise<void> {
  const { orphans, dataFolder } = await runProgram([]);
  if (orphans.length > 0) {
    if (!json) console.log(tableText({ KIND: "kind", ID: "id" }, orphans));
    const question = `The next start moves these files of ${printable(dataFolder)} to the quarantine. Continue?`;
    if (!yes) await requireConsent(question, "Nothing was changed.");
    await runProgram(["--accept"]);
  }
  if (json) return writeJson(process.stdout, { orphans, dataFolder });
  if (orphans.length === 0) return note("Every machine, snapshot and import of this host has a row in the database.");
  console.log("The server may start: berth up. Then: berth admin orphans list");
}

async function runProgram(args: readonly string[]): Promise<Found> {
  const child = spawn(process.execPath, [programPath("hosts/adopt-program.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = (await text(child.stdout)).trim().split("\n");
  const last = JSON.parse(lines.at(-1) || "{}") as Partial<Found> & { failed?: string };
  if (last.orphans && last.dataFolder) return { orphans: last.orphans, dataFolder: last.dataFolder };
  throw new CliError(last.failed ?? "The program exited early.");
}
