import { createWriteStream } from "node:fs";
import { lstat, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable, Transform, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Backup, type Berth, UnreachableError } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { printable, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

const mebibyte = 1024 ** 2;

/** `berth admin backup` */
export function register(admin: Command): void {
  admin
    .command("backup")
    .description("write a backup of the whole installation, while it runs")
    .argument("<file>", "a new file; - is standard output, for a program that stores it")
    .addOption(jsonOption())
    .action(async (file: string, { json }: CommonOptions) => {
      if (file === "-" && process.stdout.isTTY) throw new CliError("A backup is not for a terminal: name a file.", 2);
      if (file !== "-") await requireNew(file);
      const client = connect(readEnvironment());
      using progress = new Progress(process.stderr);
      progress.show("keeping each agent's machine, and the database");
      const backup = await client.admin.createBackup();
      try {
        await receive(client, backup, file, progress);
      } finally {
        await client.admin.removeBackup(backup.id).catch(() => {}); // It goes by itself within the hour.
      }
      progress[Symbol.dispose]();
      report(backup, file, json ?? false);
    });
}

async function requireNew(file: string): Promise<void> {
  if (await lstat(file).catch(() => null)) throw new CliError(`Something is there already: ${file}`);
}

/** The file is whole before it has its name. */
async function receive(client: Berth, { id, bytes }: Backup, file: string, progress: Progress): Promise<void> {
  const response = await client.admin.readBackup(id);
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  let isBroken = false;
  body.once("error", () => {
    isBroken = true;
  });
  let seen = 0;
  const count = new Transform({
    transform(piece: Buffer, _, done) {
      seen += piece.length;
      progress.show(`${Math.round(seen / mebibyte)} of ${Math.round(bytes / mebibyte)} MiB`);
      done(null, piece);
    },
  });
  const write = async (into: Writable) => {
    // A terminal's line is drawn now and then; elsewhere each MiB would be a line.
    const steps = process.stderr.isTTY ? [body, count, into] : [body, into];
    await pipeline(steps as [Readable, Writable]).catch((error: Error) => {
      throw isBroken ? new UnreachableError("The connection broke off before the backup's end.") : error;
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
