import type { Snapshot } from "@berth/client";
import { shellWord } from "../../core/shell-word.ts";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

/** Why a snapshot was made, as the end of a sentence that begins "for". */
const purposes: Record<Snapshot["reason"], string> = {
  asked: "you",
  rollback: "undoing a rollback",
  turn: "undoing a turn",
  upgrade: "undoing an upgrade",
};

export function register(program: ToolCommand): void {
  const snapshots = program.add("snapshots", "create, list and remove snapshots");
  snapshots.add("list <agent>", "list an agent's snapshots").lists({
    list: (name: string) => agentOf(name).snapshots.list(),
    empty: (name) => `${printable(name)} has no snapshots. To create one: berth snapshots create ${printable(name)}`,
    columns: {
      NAME: "name",
      MADE: ({ createdAt }) => localTime(createdAt),
      FOR: ({ reason }) => purposes[reason],
      MEMORY: ({ hasMemory }) => (hasMemory ? "yes" : "no"),
      SIZE: megabytes,
    },
  });
  snapshots
    .add("create <agent>", "create a snapshot of an agent: files, memory, running programs, conversation")
    .option("--name <name>", "its name; default: the time")
    .option("--no-memory", "keep the files and the conversation, not the running programs")
    .prints(
      (agent: string, { name, memory }: { name?: string; memory: boolean }) =>
        agentOf(agent).snapshots.create({ name, memory }),
      (snapshot, agent) => {
        const [shown, kept] = [printable(agent), quoted(snapshot.name)];
        return `Created the snapshot ${kept} of ${shown} (${megabytes(snapshot)}). To restore it: berth agents rollback ${shown} ${kept}`;
      },
    );
  snapshots
    .add("remove <agent> <snapshot>", "remove a snapshot", { snapshot: "its name or id" })
    .confirms((_: string, snapshot: string) => `Remove the snapshot ${printable(snapshot)}?`, "Nothing was removed.")
    .prints(
      (agent: string, snapshot: string) => agentOf(agent).snapshots.remove(snapshot),
      () => note("The snapshot was removed."),
    );
}

function megabytes({ bytes }: Snapshot): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`;
}

/** A name, quoted for a shell. */
function quoted(name: string): string {
  return /^[\w:.-]+$/.test(name) ? name : shellWord(printable(name));
}
