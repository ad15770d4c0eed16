import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { lstat, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Backup, type Berth, UnreachableError } from "@berth/client";
import { Option } from "commander";
import { programPath } from "../checkout.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { counted } from "../copy/ends.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

const mebibyte = 1024 ** 2;

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
  admin
    .command("backup")
    .description("write a backup of the whole installation, while it runs")
    .argument("<file>", "a new file; - is standard output, for a program that stores it")
    .addOption(jsonOption())
    .action(backUp);
}

/** Adds `berth admin restore` and `verify`. */
export function addRestore(admin: ToolCommand): void {
  admin
    .command("restore")
    .description("fill an empty data folder with a backup; no server may run")
    .argument("<file>", "the backup; - is standard input")
    .addOption(new Option("--secret-key <file>", "the secret key, which is not in a backup; put into the data folder"))
    .addOption(
      new Option("--without-secret-key", "discard encrypted data: agents' secrets, sign-ins").conflicts("secretKey"),
    )
    .prints((file: string, { secretKey, withoutSecretKey }: RestoreOptions) => {
      const options = [
        ...(secretKey === undefined ? [] : ["--secret-key", secretKey]),
        ...(withoutSecretKey ? ["--without-secret-key"] : []),
      ];
      return runProgram("restored", [...options, "restore", "--", file]);
    }, showRestored);
  admin
    .command("verify")
    .description("read a complete backup and verify its checksums")
    .argument("<file>", "the backup; - is standard input")
    .prints(
      (file: string) => runProgram("verified", ["verify", "--", file]),
      (facts) =>
        `The backup is complete: ${contentsOf(facts)}; ${facts.files} files, ${Math.round(facts.bytes / mebibyte)} MiB without holes' contents.`,
    );
}

async function backUp(file: string, { json }: CommonOptions): Promise<void> {
  if (file === "-" && process.stdout.isTTY) {
    throw new CliError("Refusing to write a backup to a terminal; pass a file name.", 2);
  }
  if (file !== "-") await requireNew(file);
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

async function requireNew(file: string): Promise<void> {
  if (await lstat(file).catch(() => null)) throw new CliError(`${file} already exists.`);
}

/** Writes the backup under another name first, so that the file is complete once it has its name. */
async function receive(client: Berth, { id, bytes }: Backup, file: string, progress: Progress): Promise<void> {
  const response = await client.admin.readBackup(id);
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  let isBroken = false;
  body.once("error", () => {
    isBroken = true;
  });
  const count = counted((seen) =>
    progress.show(`${Math.round(seen / mebibyte)} of ${Math.round(bytes / mebibyte)} MiB`),
  );
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
  note(
    `${file === "-" ? "The backup" : printable(file)} has the database and the machines of ${agents} ${agents === 1 ? "agent" : "agents"}.`,
  );
  for (const { agent, reason } of leftOut) {
    process.stderr.write(`berth: the machine of ${printable(agent)} is not in it: ${printable(reason)}\n`);
  }
  note(
    "The secret key is not in it: keep a copy of it elsewhere (secret.key in the data folder, or BERTH_SECRET_KEY).",
  );
}

function showRestored(facts: BackupFacts & { dataFolder: string }): void {
  console.log(`${printable(facts.dataFolder)} has ${contentsOf(facts)}. To start it: berth up`);
  for (const { agent, reason } of facts.leftOut) {
    note(`The machine of ${printable(agent)} was not in it: ${printable(reason)}`);
  }
  const settings = Object.entries(facts.settings);
  if (settings.length === 0) return;
  note("Its service had these settings:");
  for (const [name, value] of settings) note(`  ${name}=${printable(value)}`);
}

function contentsOf({ machines, createdAt, berth }: BackupFacts): string {
  const agents = machines.length === 1 ? "1 agent" : `${machines.length} agents`;
  return `the data of ${localTime(createdAt)} (${agents}, Berth ${printable(berth)})`;
}

/** Runs the service's own program for backups with this process's input. Throws `CliError` with the reason of a failure. */
async function runProgram<Result extends "restored" | "verified">(
  result: Result,
  args: readonly string[],
): Promise<NonNullable<ProgramLine[Result]>> {
  using progress = new Progress(process.stderr);
  const child = spawn(process.execPath, [programPath("backup/program.ts"), ...args], {
    stdio: ["inherit", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  // The terminal's Ctrl-C ends the program too, which empties the folder first.
  const wait = () => {};
  process.on("SIGINT", wait);
  let last: ProgramLine = {};
  for await (const text of createInterface({ input: child.stdout })) {
    last = JSON.parse(text) as ProgramLine;
    if (last.doing) progress.show(last.doing);
  }
  await closed;
  process.off("SIGINT", wait);
  const found = last[result];
  if (found) return found;
  throw new CliError(last.failed ?? "The program exited early.");
}
