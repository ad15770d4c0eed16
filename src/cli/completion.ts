import type { Command } from "commander";

/** A command as completion needs it, with those below it. As JSON, it comes with the built tool. */
export interface CommandTree {
  /** Its name, then its aliases. */
  names: string[];
  options: { flags: string[]; name: string; takesValue: boolean; choices: readonly string[] | undefined }[];
  arguments: { name: string; choices: readonly string[] | undefined }[];
  commands: CommandTree[];
}

export function treeOf(command: Command): CommandTree {
  return {
    names: [command.name(), ...command.aliases()],
    options: command.options.map((option) => ({
      flags: [option.long, option.short].filter((flag) => flag != null),
      name: option.attributeName(),
      takesValue: option.required || option.optional,
      choices: option.argChoices,
    })),
    arguments: command.registeredArguments.map((argument) => ({ name: argument.name(), choices: argument.argChoices })),
    commands: command.commands.map(treeOf),
  };
}

/**
 * The characters that shells accept without quotes. A shell would run some of the characters possible in a service's
 * names.
 */
const harmless = /^[\w@%+=:,./-]+$/;

/** Completions for the last of these words, which may be empty. `words` are those after `berth`. */
export async function completionsOf(tree: CommandTree, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? "";
  const candidates = await candidatesFor(tree, words.slice(0, -1), current).catch(() => []);
  return candidates.filter((each) => each.startsWith(current) && harmless.test(each));
}

async function candidatesFor(
  tree: CommandTree,
  before: readonly string[],
  current: string,
): Promise<readonly string[]> {
  let command = tree;
  let parent: CommandTree | null = null;
  let position = 0;
  let awaited: CommandTree["options"][number] | undefined;
  for (const word of before) {
    const option = awaited ? undefined : optionOf(command, word);
    const below = command.commands.find(({ names }) => names.includes(word));
    if (awaited) awaited = undefined;
    else if (option) awaited = option.takesValue && !word.includes("=") ? option : undefined;
    else if (below) [parent, command] = [command, below];
    else if (command.commands.length > 0)
      return []; // There is no such command.
    else position++;
  }
  if (awaited) return valuesOf(awaited);
  if (current.startsWith("-"))
    return command.options.flatMap(({ flags }) => flags.find((flag) => flag.startsWith("--")) ?? []);
  if (command.commands.length > 0) return command.commands.map(({ names }) => names[0]!);
  const argument = command.arguments[position];
  return argument ? valuesOf(argument, { command: command.names[0]!, group: parent?.names[0] }) : [];
}

function optionOf(command: CommandTree, word: string) {
  const [flag] = word.split("=");
  return command.options.find(({ flags }) => flags.includes(flag!));
}

/** Loads the client only where it is needed: most completions come from the tree alone. */
async function valuesOf(
  { name, choices }: CommandTree["arguments"][number],
  of?: { command: string; group: string | undefined },
): Promise<readonly string[]> {
  if (choices) return choices;
  const { findNames } = await import("./names.ts");
  return findNames(name, of);
}
