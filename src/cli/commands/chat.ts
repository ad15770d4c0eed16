import { type Berth, ClientError, type Inclusion, isLast, type LastEvent } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError, FaultError, InterruptedError } from "../errors.ts";
import { Interrupts } from "../interrupts.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { readMessage } from "../prompt.ts";
import { ReplyView } from "../reply-view.ts";
import { reportError } from "../report.ts";
import { textOf } from "../standard-input.ts";
import { writeText } from "../terminal.ts";

interface ChatOptions extends CommonOptions {
  usage?: true;
}

/** Whom to talk to, and how to show the replies. */
interface Chat {
  client: Berth;
  agent: string;
  include: readonly Inclusion[];
  json: boolean;
}

/** `berth chat NAME [MESSAGE]` */
export function register(program: Command): void {
  program
    .command("chat")
    .description("send a message to an agent and stream its reply")
    .argument("<name>", "the agent's name")
    .argument("[message]", "the message; - reads standard input; without it, start a conversation")
    .option("-u, --usage", "print the tokens and credits used on stderr after the reply")
    .addOption(jsonOption())
    .addHelpText("after", "\nCtrl-C interrupts the reply, a second one quits at once. Ctrl-D ends a conversation.")
    .action(async (agent: string, message: string | undefined, { usage, json }: ChatOptions) => {
      const talksOnTerminal = message === undefined && process.stdin.isTTY;
      if (message === undefined && !talksOnTerminal) {
        throw new CliError("A message is missing; to read it from standard input: berth chat NAME -", 2);
      }
      const client = connect(readEnvironment());
      const include: Inclusion[] = usage ? ["tools", "usage"] : ["tools"];
      const chat = { client, agent, include, json: json ?? false };
      if (message === undefined) await converse(chat);
      else await sayOnce(chat, await textOf(message));
    });
}

async function sayOnce(chat: Chat, message: string): Promise<void> {
  using interrupts = new Interrupts();
  requireCompleted(await say(chat, message, interrupts), interrupts);
}

/** Throws `CliError` for a turn that did not complete. */
function requireCompleted(last: LastEvent, interrupts: Interrupts): void {
  if (last.type === "response.completed") return;
  if (last.type === "response.failed") throw new FaultError(last.error);
  throw interrupts.cancel.aborted ? new InterruptedError() : new CliError("The turn was cancelled.");
}

/** A conversation on the terminal, until Ctrl-D. An error in a turn is shown and does not end it. */
async function converse(chat: Chat): Promise<void> {
  await chat.client.agent(chat.agent).get();
  const history: string[] = [];
  for (;;) {
    const message = await readMessage(history);
    if (message === null) return;
    if (message.trim() === "") continue;
    using interrupts = new Interrupts();
    try {
      requireCompleted(await say(chat, message, interrupts), interrupts);
    } catch (error) {
      const told = error instanceof CliError || error instanceof ClientError;
      if (!told || interrupts.quit.aborted) throw error;
      await reportError(error, chat.json);
    }
  }
}

/** Sends a message and shows the turn's events up to the last. */
async function say(
  { client, agent, include, json }: Chat,
  message: string,
  interrupts: Interrupts,
): Promise<LastEvent> {
  const view = new ReplyView(process.stdout, process.stderr);
  const { cancel, quit } = interrupts;
  const reply = client.agent(agent).chat(message, {
    include,
    signal: quit,
    onBroken: () => view.note("The connection broke off; trying to go on."),
  });
  cancel.addEventListener("abort", () => {
    view.interrupted();
    reply.cancel().catch((error: Error) => view.note(error.message));
  });
  try {
    for await (const event of reply) {
      if (json) writeText(process.stdout, `${JSON.stringify(event)}\n`);
      else view.show(event);
      if (isLast(event)) return event;
    }
  } finally {
    view.endLine();
  }
  throw new CliError("The reply ended early.");
}
