import { type Command, Option } from "commander";
import { type CommonOptions, jsonOption } from "../options.ts";
import { type BackupFacts, runRestoreProgram } from "../restore-program.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface RestoreOptions extends CommonOptions {
  secretKey?: string;
  withoutSecretKey?: true;
}

/** `berth admin restore` and `berth admin verify` */
export function register(admin: Command): void {
  admin
    .command("restore")
    .description("fill an empty data folder with a backup; no server may run")
    .argument("<file>", "the backup; - is standard input")
    .addOption(new Option("--secret-key <file>", "the secret key, which is not in a backup; put into the data folder"))
    .addOption(
      new Option("--without-secret-key", "give up what is encrypted: agents' secrets, sign-ins").conflicts("secretKey"),
    )
    .addOption(jsonOption())
    .action(restore);
  admin
    .command("verify")
    .description("read a backup to its end, and check that all of it is there as it was written")
    .argument("<file>", "the backup; - is standard input")
    .addOption(jsonOption())
    .action(verify);
}

async function restore(file: string, { secretKey, withoutSecretKey, json }: RestoreOptions): Promise<void> {
  const options = [
    ...(secretKey === undefined ? [] : ["--secret-key", secretKey]),
    ...(withoutSecretKey ? ["--without-secret-key"] : []),
  ];
  const facts = await runRestoreProgram("restored", [...options, "restore", "--", file]);
  if (json) return writeJson(process.stdout, facts);
  console.log(`${printable(facts.dataFolder)} has ${contents(facts)}. To start it: berth up`);
  for (const { agent, reason } of facts.leftOut) {
    note(`The machine of ${printable(agent)} was not in it: ${printable(reason)}`);
  }
  const settings = Object.entries(facts.settings);
  if (settings.length === 0) return;
  note("Its service had these settings:");
  for (const [name, value] of settings) note(`  ${name}=${printable(value)}`);
}

async function verify(file: string, { json }: CommonOptions): Promise<void> {
  const facts = await runRestoreProgram("verified", ["verify", "--", file]);
  if (json) return writeJson(process.stdout, facts);
  const mebibytes = Math.round(facts.bytes / 1024 ** 2);
  console.log(
    `The backup is whole: ${contents(facts)}; ${facts.files} files, ${mebibytes} MiB without holes' contents.`,
  );
}

function contents({ machines, createdAt, berth }: BackupFacts): string {
  const agents = machines.length === 1 ? "1 agent" : `${machines.length} agents`;
  return `what was there on ${localTime(createdAt)} (${agents}, Berth ${printable(berth)})`;
}
