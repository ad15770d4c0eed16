import type { InboxChanged, InboxItem } from "@berth/client";
import { Option } from "commander";
import { inboxKinds } from "../../contract/inbox.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { limitOption } from "../options.ts";
import { fieldsText } from "../table.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface ListOptions {
  agent?: string;
  kind?: InboxItem["kind"];
  unread?: true;
  limit: number;
}

interface ChosenOptions {
  agent?: string;
  all?: true;
}

const about = { id: "the id that the list shows" };
const agentOption = ["-a, --agent <name>", "all items of this agent"] as const;
const allOption = ["--all", "all items of the workspace"] as const;

export function register(program: ToolCommand): void {
  const inbox = program.add("inbox", "show what needs your attention in the workspace");
  inbox
    .command("list", { isDefault: true })
    .description("list the items of the inbox, newest last")
    .option("-a, --agent <name>", "only items of this agent")
    .addOption(new Option("-k, --kind <kind>", "only items of this kind").choices(inboxKinds))
    .option("--unread", "only unread items")
    .addOption(limitOption(50))
    .lists({
      list: ({ agent, kind, unread, limit }: ListOptions) =>
        connect()
          .inbox.list({ agent, kind, unread: unread && "true" })
          .take(limit),
      empty: "You're all caught up.",
      newestFirst: true,
      older: "There are older items: --limit shows more.",
      columns: {
        ID: ({ id }: InboxItem) => id,
        TIME: ({ at }) => localTime(at),
        KIND: ({ kind, read }) => (read ? kind : `${kind} *`),
        AGENT: ({ agent }) => agent ?? "",
        ABOUT: (item) => aboutText(item),
      },
    });
  inbox.add("unread", "count the unread items of each kind").prints(
    () => connect().inbox.unread(),
    (unread) => fieldsText(Object.fromEntries(Object.entries(unread).map(([kind, count]) => [kind, String(count)]))),
  );
  inbox
    .add("read [id]", "mark an item as read, or all of them", about)
    .option(...agentOption)
    .option(...allOption)
    .prints(
      async (id: string | undefined, options: ChosenOptions) => connect().inbox.read(await chosen(id, options)),
      ({ changed }) => note(changed === 1 ? "Marked 1 item as read." : `Marked ${changed} items as read.`),
    );
  inbox
    .add("dismiss [id]", "remove an item from the inbox, or all of them", about)
    .option(...agentOption)
    .option(...allOption)
    .prints(dismiss, (answer) => note(answer ? `Removed ${answer.changed} items.` : "Removed the item."));
}

async function dismiss(id: string | undefined, options: ChosenOptions): Promise<InboxChanged | null> {
  if (id === undefined) return connect().inbox.dismiss(await chosen(id, options));
  await connect().inbox.remove(id);
  return null;
}

/** Later items stay as they are. */
async function chosen(id: string | undefined, { agent, all }: ChosenOptions) {
  const named = [id, agent, all].filter((each) => each !== undefined);
  if (named.length !== 1) throw new CliError("Pass an id, --agent or --all.", 2);
  if (id !== undefined) return { ids: [id] };
  if (agent !== undefined) return { agent };
  const [newest] = (await connect().inbox.list().take(1)).data;
  return { upTo: newest?.position ?? 0 };
}

/** The subject of an item, in a line. */
function aboutText({ type, message, reason, host, automation, provider, secret, count }: InboxItem): string {
  const subject = message ?? host ?? automation ?? provider ?? secret;
  const text = [type, subject, reason].filter((each) => each !== null).join(": ");
  return printable(count > 1 ? `${text} (${count} times)` : text);
}
