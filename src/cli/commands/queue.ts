import { authorText, type Queue, type QueuedTurn } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { printable } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface ChangeOptions {
  message?: string;
  position?: number;
}

export function register(program: ToolCommand): void {
  const queue = program.add("queue", "show and change the messages that wait until an agent has answered");
  queue.add("list <agent>", "list the messages that wait, the next one first").lists({
    list: (name: string) => agentOf(name).queue.get(),
    empty: (name) => `No message waits for ${printable(name)}.`,
    columns: {
      POSITION: ({ position }) => String(position),
      TURN: "id",
      QUEUED: ({ queuedAt }) => localTime(queuedAt),
      BY: ({ createdBy }: QueuedTurn) => (createdBy ? printable(authorText(createdBy)) : "unknown"),
      MESSAGE: ({ message }) => printable(message.trim()),
    },
  });
  queue
    .add("resume <agent>", "begin the next message of a queue that a cancelled or failed turn holds")
    .prints((name: string) => agentOf(name).queue.act({ action: "resume" }), showRest);
  queue
    .add("discard <agent>", "cancel all messages that wait")
    .confirms((name: string) => `Cancel all messages that wait for ${printable(name)}?`, "Nothing was cancelled.")
    .prints(
      (name: string) => agentOf(name).queue.act({ action: "discard" }),
      () => note("No message waits any more."),
    );
  queue
    .add("change <agent> <turn>", "change the text or the place of a message that waits", {
      turn: "the turn's id",
    })
    .option("--message <text>", "its new text")
    .option("--position <number>", "its new place; 1 is next", Number)
    .after("To remove a message: berth turns cancel AGENT TURN")
    .prints(
      (name: string, turnId: string, { message, position }: ChangeOptions) =>
        agentOf(name).queue.change(turnId, { message, position }),
      showRest,
    );
}

function showRest({ data }: Queue): void {
  note(data.length === 1 ? "1 message waits." : `${data.length} messages wait.`);
}
