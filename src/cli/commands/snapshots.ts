import type { Snapshot } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, yesOption } from "../options.ts";
import { requireConsent } from "../prompt.ts";
import { formatTable } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface CreateOptions extends CommonOptions {
  name?: string;
  memory: boolean;
}

/** `berth snapshots …` */
export function register(snapshots: Command): void {
  snapshots
    .command("list")
    .description("list what was kept of an agent")
    .argument("<agent>", "the agent's name")
    .addOption(jsonOption())
    .action(list);
  snapshots
    .command("create")
    .description("keep an agent as it is now: files, memory, running programs, conversation")
    .argument("<agent>", "the agent's name")
    .option("--name <name>", "what to call it; default: the time")
    .option("--no-memory", "keep the files and the conversation, not the programs that run")
    .addOption(jsonOption())
    .action(create);
  snapshots
    .command("remove")
    .description("remove a snapshot")
    .argument("<agent>", "the agent's name")
    .argument("<snapshot>", "its name or id")
    .addOption(yesOption())
    .addOption(jsonOption())
    .action(remove);
}

async function list(name: string, { json }: CommonOptions): Promise<void> {
  const data = await connect(readEnvironment()).agent(name).snapshots.list();
  if (json) return writeJson(process.stdout, data);
  if (data.length === 0) {
    return note(
      `Nothing is kept of ${printable(name)}. To keep it as it is now: berth snapshots create ${printable(name)}`,
    );
  }
  process.stdout.write(formatTable(process.stdout, ["NAME", "MADE", "FOR", "MEMORY", "SIZE"], data.map(rowOf)));
}

async function create(name: string, { json, ...options }: CreateOptions): Promise<void> {
  const snapshot = await connect(readEnvironment()).agent(name).snapshots.create(options);
  if (json) return writeJson(process.stdout, snapshot);
  const [shown, kept] = [printable(name), quoted(snapshot.name)];
  console.log(
    `${shown} is kept as ${kept} (${megabytes(snapshot)}). To go back: berth agents rollback ${shown} ${kept}`,
  );
}

async function remove(name: string, snapshot: string, { json, yes }: CommonOptions & { yes?: true }): Promise<void> {
  if (!yes) await requireConsent(`Remove what was kept as ${printable(snapshot)}?`, "Nothing was removed.");
  await connect(readEnvironment()).agent(name).snapshots.remove(snapshot);
  if (json) writeJson(process.stdout, null);
  else note("The snapshot is gone.");
}

/** What each is kept for. */
const purposes: Record<Snapshot["reason"], string> = {
  asked: "you",
  rollback: "undoing a rollback",
  turn: "undoing a turn",
  upgrade: "undoing an upgrade",
};

function rowOf(snapshot: Snapshot): string[] {
  const { name, createdAt, reason, hasMemory } = snapshot;
  return [printable(name), localTime(createdAt), purposes[reason], hasMemory ? "yes" : "no", megabytes(snapshot)];
}

function megabytes({ bytes }: Snapshot): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`;
}

/** A name as a shell takes it. */
function quoted(name: string): string {
  return /^[\w:.-]+$/.test(name) ? name : `'${printable(name).replaceAll("'", "'\\''")}'`;
}
