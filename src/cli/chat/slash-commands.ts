import type { AgentHandle, Berth, Usage } from "@berth/client";
import { type AttachedFile, attachFile } from "../attached-files.ts";
import { usageText } from "../usage-text.ts";

/** The parts of a conversation that its commands use. */
export interface CommandContext {
  client: Berth;
  agent: AgentHandle;
  /** Of the last reply; null before the first. */
  lastUsage: Usage | null;
  /** Prints a line. */
  tell: (text: string) => void;
  /** Resolves with the user's answer. */
  confirm: (question: string) => Promise<boolean>;
  /** Attaches a file to the next message. */
  attach: (file: AttachedFile) => void;
  leave: () => void;
}

interface SlashCommand {
  help: string;
  run: (context: CommandContext, argument: string) => Promise<void> | void;
  /** The argument's possible values. */
  candidates?: (context: Pick<CommandContext, "client">) => Promise<string[]>;
}

const keys = [
  "Enter               sends the message, which waits while a reply is under way",
  "\\ Enter, Alt-Enter  a new line",
  "Up, Down            earlier messages",
  "Ctrl-O              unfolds the calls of tools, or folds them",
  "Ctrl-C              interrupts the reply; once more: leaves",
  "Ctrl-D              leaves; a running reply continues",
];

export const slashCommands: Readonly<Record<string, SlashCommand>> = {
  help: {
    help: "show this list",
    run: ({ tell }) => {
      for (const [name, { help }] of Object.entries(slashCommands)) tell(`${`/${name}`.padEnd(20)}${help}`);
      for (const line of keys) tell(line);
      tell(`${"//…".padEnd(20)}sends a message that begins with one slash`);
    },
  },
  model: {
    help: "show the agent's model, or change it: /model NAME",
    run: async ({ agent, tell }, name) => {
      const { model } = name === "" ? await agent.get() : await agent.update({ model: name });
      tell(name === "" ? `model: ${model ?? "the runtime's default"}` : `${model} answers from the next message on.`);
    },
    candidates: async ({ client }) => (await client.models().take()).data.map(({ id }) => id),
  },
  file: {
    help: "attach an image or a file to the next message: /file PATH",
    run: async ({ agent, attach, tell }, path) => {
      if (path === "") return tell("The path of a file is missing: /file PATH");
      const file = await attachFile(agent, path);
      attach(file);
      tell(`${file.name} (${file.size} bytes) goes with the next message.`);
    },
  },
  reset: {
    help: "begin a new conversation; the agent's files stay",
    run: async ({ agent, tell, confirm }) => {
      if (!(await confirm("Begin a new conversation, and forget this one?"))) return tell("Nothing was changed.");
      await agent.reset();
      tell("A new conversation begins.");
    },
  },
  usage: {
    help: "show what the last reply took, and the account's credits",
    run: async ({ client, lastUsage, tell }) => {
      tell(lastUsage ? `last reply: ${usageText(lastUsage)}` : "No reply has ended here yet.");
      const { balance, spentThisMonth } = await client.billing.get();
      tell(`credits: ${balance} left, ${spentThisMonth} spent this month`);
    },
  },
  quit: { help: "leave; a running reply continues", run: ({ leave }) => leave() },
};

/** The meaning of a message: a command with its argument, or else text for the agent. */
export function readInput(text: string): { command: string; argument: string } | { message: string } {
  const match = /^\/([a-z]+)(?:\s+(\S.*))?\s*$/.exec(text);
  if (match) return { command: match[1]!, argument: match[2]?.trim() ?? "" };
  return { message: text.startsWith("//") ? text.slice(1) : text };
}

/** The completions of a command's beginning: whole texts of the input. */
export async function completionsOf(text: string, context: Pick<CommandContext, "client">): Promise<string[]> {
  const match = /^\/([a-z]*)( +\S*)?$/.exec(text);
  if (!match) return [];
  const [, name = "", argument] = match;
  if (argument === undefined) {
    return Object.keys(slashCommands)
      .filter((each) => each.startsWith(name))
      .map((each) => `/${each}`);
  }
  const candidates = (await slashCommands[name]?.candidates?.(context)) ?? [];
  return candidates.filter((each) => each.startsWith(argument.trim())).map((each) => `/${name} ${each}`);
}
