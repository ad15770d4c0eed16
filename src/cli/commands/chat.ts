import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Berth, type ChatRequest, type ContentPart, type Inclusion, isLast, type LastEvent } from "@berth/client";
import { Option } from "commander";
import { ApprovalPrompts } from "../approval-prompts.ts";
import { attachFile } from "../attached-files.ts";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError, FaultError, InterruptedError } from "../errors.ts";
import { Interrupts } from "../interrupts.ts";
import { type CommonOptions, conversationOption, jsonOption } from "../options.ts";
import { ReplyView } from "../reply-view.ts";
import { reportSeen } from "../seen-turns.ts";
import { textOf } from "../streams.ts";
import { printable, writeText } from "../terminal.ts";
import { effortOption, type LimitOptions, limitOptions, limitsOf } from "./agents-settings.ts";

interface ChatOptions extends CommonOptions, LimitOptions {
  file?: string[];
  schema?: string;
  conversation?: number;
  whenBusy: WhenBusy;
  onAsk: OnAsk;
  effort?: Effort;
  usage?: true;
  history: boolean;
}

/** The agent, and how to show its replies. */
interface Chat {
  client: Berth;
  agent: string;
  include: readonly Inclusion[];
  conversation: number | undefined;
  whenBusy: WhenBusy;
  onAsk: OnAsk;
  limits: ReturnType<typeof limitsOf> & Pick<ChatRequest, "effort">;
  /** The schema of the output; null: the reply is a text. */
  schema: Schema | null;
  json: boolean;
}

type Schema = NonNullable<ChatRequest["output"]>["schema"];
type Effort = NonNullable<ChatRequest["effort"]>;
type WhenBusy = NonNullable<ChatRequest["whenBusy"]>;
const whenBusy: WhenBusy[] = ["reject", "queue", "steer", "interrupt"];
type OnAsk = NonNullable<ChatRequest["onAsk"]>;
const onAsk: OnAsk[] = ["wait", "deny"];

export function register(program: ToolCommand): void {
  program
    .add("chat <name> [message]", "send a message to an agent and stream its reply", {
      message: "the message; - reads standard input; without it, start a conversation",
    })
    .option("-f, --file <path>", "attach an image or a file of up to 100 MiB; repeatable", withPath)
    .option(
      "--schema <file>",
      "make the agent answer with JSON that matches the JSON Schema in the file, and print the JSON alone",
    )
    .addOption(conversationOption("the number of the conversation to write to; default: the agent's current one"))
    .option("-u, --usage", "print the tokens and credits used on stderr after the reply")
    .addOption(
      new Option("--when-busy <how>", "what to do while the agent answers another message")
        .choices(whenBusy)
        .default("queue" satisfies WhenBusy),
    )
    .addOption(
      new Option("--on-ask <how>", "what to do when the agent's permissions say `ask`: wait for an answer, or deny")
        .choices(onAsk)
        .default("wait" satisfies OnAsk),
    )
    .addOption(effortOption())
    .option(...limitOptions[0])
    .option(...limitOptions[1])
    .option(...limitOptions[2])
    .addOption(jsonOption())
    .option("--no-history", "start a conversation without showing the earlier messages")
    .after(
      "Ctrl-C interrupts the reply, a second one leaves. In a conversation, /help lists all keys, /file attaches a file.",
    )
    .action(async (agent: string, message: string | undefined, options: ChatOptions) => {
      const client = connect();
      const { file: paths = [] } = options;
      if (message === undefined && paths.length === 0) return converse(client, agent, options);
      // With --json, the events are those that a script has always got.
      const include: Inclusion[] = ["tools"];
      if (!options.json) include.push("status", "approvals");
      if (options.usage) include.push("usage");
      const { conversation, whenBusy, onAsk, effort, json = false } = options;
      const schema = options.schema === undefined ? null : await readSchema(options.schema);
      const limits = { ...limitsOf(options), ...(effort && { effort }) };
      const chat = { client, agent, include, conversation, whenBusy, onAsk, limits, schema, json };
      using interrupts = new Interrupts();
      requireCompleted(await say(chat, await contentOf(chat, message, paths), interrupts), interrupts);
    });
}

function withPath(path: string, before: string[] = []): string[] {
  return [...before, path];
}

/** Throws `CliError` for a file that is not a JSON object. The service checks the rest. */
async function readSchema(path: string): Promise<Schema> {
  let schema: unknown;
  try {
    schema = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new CliError(`${printable(path)} cannot be read as JSON: ${printable((error as Error).message)}`, 2);
  }
  if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema as Schema;
  throw new CliError(`${printable(path)} is not a JSON Schema: it must be a JSON object.`, 2);
}

/** The message, with the files at these paths. */
async function contentOf({ client, agent }: Chat, message: string | undefined, paths: readonly string[]) {
  const text = message === undefined ? "" : await textOf(message);
  if (paths.length === 0) return text;
  const parts: ContentPart[] = text === "" ? [] : [{ type: "text", text }];
  for (const path of paths) parts.push((await attachFile(client.agent(agent), path)).part);
  return parts;
}

/** Throws `CliError` for a turn that did not complete. */
function requireCompleted(last: LastEvent, interrupts: Interrupts): void {
  if (last.type === "response.completed") return;
  if (last.type === "response.failed") throw new FaultError(last.error);
  throw interrupts.cancel.aborted ? new InterruptedError() : new CliError("The turn was cancelled.");
}

/** A conversation on the terminal, until the user leaves. */
async function converse(
  client: Berth,
  name: string,
  { json, history, schema, conversation }: ChatOptions,
): Promise<void> {
  const { stdin: input, stdout: output } = process;
  if (!input.isTTY || !output.isTTY || json || schema || process.env.TERM === "dumb") {
    const why = json ? "--json" : schema ? "--schema" : "input or output that is not a terminal";
    throw new CliError(`A message is missing: with ${why} it is sent as berth chat NAME MESSAGE, or - to read it.`, 2);
  }
  const [{ ChatSession }, { InputHistory }] = await Promise.all([
    import("../chat/session.ts"),
    import("../chat/input-history.ts"),
  ]);
  const opened = await InputHistory.open(join(readEnvironment().configFolder, "chat-history"));
  const session = new ChatSession({ client, name, conversation, history: opened, showsPast: history, input, output });
  process.exitCode = await session.run();
}

/** Sends a message and shows the turn's events up to the last. */
async function say(
  { client, agent, include, conversation, whenBusy, onAsk, limits, schema, json }: Chat,
  message: string | readonly ContentPart[],
  interrupts: Interrupts,
): Promise<LastEvent> {
  const view = new ReplyView(process.stdout, process.stderr, { showsText: schema === null });
  const { cancel, quit } = interrupts;
  const reply = client.agent(agent).chat(message, {
    include,
    conversation,
    whenBusy,
    onAsk,
    ...limits,
    ...(schema && { output: { schema } }),
    signal: quit,
    onBroken: () => view.note("The connection was lost; reconnecting."),
  });
  cancel.addEventListener("abort", () => {
    view.interrupted();
    reply.cancel().catch((error: Error) => view.note(error.message));
  });
  const approvals = new ApprovalPrompts(client.agent(agent), reply, view);
  try {
    for await (const event of reply) {
      approvals.take(event);
      if (json) writeText(process.stdout, `${JSON.stringify(event)}\n`);
      else view.show(event);
      if (!isLast(event)) continue;
      if (!json && event.type === "response.completed" && event.output)
        writeText(process.stdout, `${JSON.stringify(event.output, null, 2)}\n`);
      await reportSeen(agent, reply, event);
      return event;
    }
  } finally {
    approvals.end();
    view.endLine();
  }
  throw new CliError("The reply ended early.");
}
