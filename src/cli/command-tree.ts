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
