import { createWriteStream } from "node:fs";
import { lstat, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Backup, type Berth, UnreachableError } from "@berth/client";
import { Option } from "commander";
import { startCommand } from "../checkout.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import type { CommonOptions } from "../options.ts";
import { Progress } from "../progress.ts";
import { runProgram } from "../server-process.ts";
import { counted } from "../streams.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface RestoreOptions {
  secretKey?: string;
  withoutSecretKey?: true;
}

/** A backup's description of itself. */
interface BackupFacts {
  berth: string;
  createdAt: string;
  settings: Record<string, string>;
  machines: { name: string }[];
  leftOut: { agent: string; reason: string }[];
}

/** The lines that the program for backups prints. */
interface ProgramLine {
  doing?: string;
  failed?: string;
  restored?: BackupFacts & { dataFolder: string };
  verified?: BackupFacts & { files: number; bytes: number };
}

/** Adds `berth admin backup`. */
export function addBackup(admin: ToolCommand): void {
  const file = "a new file; - is standard output, for a program that stores it";
  admin.add("backup <file>", "write a backup of the whole installation, while it runs", { file }).runs(backUp);
}

/** Adds `berth admin restore` and `verify`. */
export function addRestore(admin: ToolCommand): void {
  const about = { file: "the backup; - is standard input" };
  const withoutKey = new Option("--without-secret-key", "discard encrypted data: agents' secrets, sign-ins");
  admin
    .add("restore <file>", "fill an empty data folder with a backup; no server may run", about)
    .option("--secret-key <file>", "the secret key, which is not in a backup; put into the data folder")
    .addOption(withoutKey.conflicts("secretKey"))
    .prints((file: string, { secretKey, withoutSecretKey }: RestoreOptions) => {
      const key = secretKey === undefined ? [] : ["--secret-key", secretKey];
      return readBackup(
        "restored",
        ...key,
        ...(withoutSecretKey ? ["--without-secret-key"] : []),
        "restore",
        "--",
        file,
      );
    }, showRestored);
  admin.add("verify <file>", "read a complete backup and verify its checksums", about).prints(
    (file: string) => readBackup("verified", "verify", "--", file),
    (facts) =>
      `The backup is complete: ${contentsOf(facts)}; ${facts.files} files, ${mebibytes(facts.bytes)} MiB without holes' contents.`,
  );
}

async function backUp(file: string, { json }: CommonOptions): Promise<void> {
  if (file === "-" && process.stdout.isTTY) {
    throw new CliError("Refusing to write a backup to a terminal; pass a file name.", 2);
  }
  if (file !== "-" && (await lstat(file).catch(() => null))) throw new CliError(`${file} already exists.`);
  const client = connect();
  using progress = new Progress(process.stderr);
  progress.show("keeping each agent's machine, and the database");
  const backup = await client.admin.createBackup();
  try {
    await receive(client, backup, file, progress);
  } finally {
    await client.admin.removeBackup(backup.id).catch(() => {}); // It expires within the hour.
  }
  progress[Symbol.dispose]();
  report(backup, file, json ?? false);
}

/** Writes the backup under another name first, so that the file is complete once it has its name. */
async function receive(client: Berth, { id, bytes }: Backup, file: string, progress: Progress): Promise<void> {
  const response = await client.admin.readBackup(id);
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  let isBroken = false;
  body.once("error", () => {
    isBroken = true;
  });
  const count = counted((seen) => progress.show(`${mebibytes(seen)} of ${mebibytes(bytes)} MiB`));
  const write = async (into: Writable) => {
    // A terminal's line is drawn now and then; elsewhere each MiB would be a line.
    const steps = process.stderr.isTTY ? [body, count, into] : [body, into];
    await pipeline(steps as [Readable, Writable]).catch((error: Error) => {
      throw isBroken ? new UnreachableError("The connection broke before the end of the backup.") : error;
    });
  };
  if (file === "-") return write(process.stdout);
  const target = resolve(file);
  const partial = join(dirname(target), `.berth-backup-${id}`);
  try {
    await write(createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true }));
    await rename(partial, target);
    await using folder = await open(dirname(target), "r");
    await folder.sync();
  } finally {
    await rm(partial, { force: true });
  }
}

function report(backup: Backup, file: string, json: boolean): void {
  const { agents, leftOut } = backup;
  if (leftOut.length > 0) process.exitCode = 1;
  if (json && file !== "-") writeJson(process.stdout, backup);
  if (json) return;
  const name = file === "-" ? "The backup" : printable(file);
  note(`${name} has the database and the machines of ${agentsText(agents)}.`);
  for (const { agent, reason } of leftOut) {
    process.stderr.write(`berth: the machine of ${printable(agent)} is not in it: ${printable(reason)}\n`);
  }
  note(
    "The secret key is not in it: keep a copy of it elsewhere (secret.key in the data folder, or BERTH_SECRET_KEY).",
  );
}

function showRestored(facts: BackupFacts & { dataFolder: string }): void {
  console.log(`${printable(facts.dataFolder)} has ${contentsOf(facts)}. To start it: ${startCommand}`);
  for (const { agent, reason } of facts.leftOut) {
    note(`The machine of ${printable(agent)} was not in it: ${printable(reason)}`);
  }
  const settings = Object.entries(facts.settings);
  if (settings.length > 0) note("Its service had these settings:");
  for (const [name, value] of settings) note(`  ${name}=${printable(value)}`);
}

function contentsOf({ machines, createdAt, berth }: BackupFacts): string {
  return `the data of ${localTime(createdAt)} (${agentsText(machines.length)}, Berth ${printable(berth)})`;
}

function agentsText(number: number): string {
  return number === 1 ? "1 agent" : `${number} agents`;
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 ** 2);
}

/** Runs the service's own program for backups. It empties the folder on Ctrl-C. Throws `CliError` if it fails. */
async function readBackup<Result extends "restored" | "verified">(
  result: Result,
  ...args: string[]
): Promise<NonNullable<ProgramLine[Result]>> {
  using progress = new Progress(process.stderr);
  let last: ProgramLine = {};
  const take = (line: string) => {
    last = JSON.parse(line) as ProgramLine;
    if (last.doing) progress.show(last.doing);
  };
  await runProgram("backup/program.ts", take, { args, stdin: "inherit", cleansUp: true });
  const found = last[result];
  if (found) return found;
  throw new CliError(last.failed ?? "The program exited early.");
}
