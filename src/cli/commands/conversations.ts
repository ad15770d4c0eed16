import type { Conversation } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { limitOption } from "../options.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

const about = { conversation: "the conversation's number", title: "its title" };

interface NewOptions {
  use?: boolean;
  /** A turn's id. */
  from?: string;
}

export function register(program: ToolCommand): void {
  const conversations = program.add("conversations", "show and change an agent's conversations");
  conversations
    .add("list <agent>", "list an agent's conversations, the newest activity first")
    .addOption(limitOption(50))
    .lists({
      list: (name: string, { limit }: { limit: number }) => agentOf(name).conversations.list().take(limit),
      older: "There are older conversations: --limit shows more.",
      columns: {
        NUMBER: ({ id }: Conversation) => String(id),
        CURRENT: ({ current }) => (current ? "yes" : ""),
        ACTIVE: ({ lastTurnAt, createdAt }) => localTime(lastTurnAt ?? createdAt),
        TITLE: titleOf,
      },
    });
  conversations
    .add("new <agent> [title]", "create a conversation, empty or continued from a turn", about)
    .option("--from <turn>", "continue from this turn: messages and replies up to it are replayed to the runtime")
    .option("--use", "make it the agent's current conversation")
    .prints(
      (name: string, title: string | undefined, { use = false, from }: NewOptions) =>
        agentOf(name).conversations.create({
          current: use,
          ...(title !== undefined && { title }),
          ...(from !== undefined && { from: { turn: from } }),
        }),
      ({ id }, name) => note(`Created conversation ${id}. To write to it: berth chat ${name} --conversation ${id}`),
    );
  conversations.add("rename <agent> <conversation> <title>", "set a conversation's title", about).prints(
    (name: string, number: string, title: string) => agentOf(name).conversations.change(number, { title }),
    (conversation) => note(`Conversation ${conversation.id} is now titled: ${titleOf(conversation)}`),
  );
  conversations.add("use <agent> <conversation>", "make a conversation the agent's current one", about).prints(
    (name: string, number: string) => agentOf(name).conversations.change(number, { current: true }),
    ({ id }, name) => note(`Messages to ${printable(name)} go to conversation ${id} now.`),
  );
  conversations
    .add("delete <agent> <conversation>", "delete a conversation with its turns", about)
    .confirms(
      (name: string, number: string) =>
        `Delete conversation ${printable(number)} of ${printable(name)} with its turns?`,
      "Nothing was deleted.",
    )
    .prints(
      (name: string, number: string) => agentOf(name).conversations.remove(number),
      (_, __, number) => note(`Deleted conversation ${printable(number)}.`),
    );
}

function titleOf({ title }: Conversation): string {
  return title === null ? "" : printable(title);
}
