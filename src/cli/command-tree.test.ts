import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "./program.ts";

/** All commands below a command, and the command itself, in the order of the help. */
function commandsIn(command: Command, words: readonly string[] = []): { words: string[]; command: Command }[] {
  const below = command.commands.flatMap((each) => commandsIn(each, [...words, each.name()]));
  return [{ words: [...words], command }, ...below];
}

/** A command's help, and after it the rules that help does not show. */
function manualOf({ words, command }: { words: string[]; command: Command }): string {
  let help = "";
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
    getOutHelpWidth: () => 120,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  const own = command.options.filter(({ long }) => long !== "--quiet");
  const rules = own.flatMap((option) => {
    const { flags, mandatory, defaultValue } = option;
    const { conflictsWith } = option as unknown as { conflictsWith: string[] };
    const isPlain = ["boolean", "number", "string"].includes(typeof defaultValue);
    return [
      ...(mandatory ? [`${flags}: required`] : []),
      ...conflictsWith.map((other) => `${flags}: conflicts with ${other}`),
      ...(isPlain ? [`${flags}: ${JSON.stringify(defaultValue)} by default`] : []),
    ];
  });
  return `## ${["berth", ...words].join(" ")}\n\n${[help.trimEnd(), ...rules].join("\n")}\n`;
}

describe("the commands of the tool", () => {
  // To accept a change: vitest run --project unit src/cli/command-tree.test.ts --update
  test("have the help of the reviewed file", async () => {
    const manuals = commandsIn(await createProgram([])).map(manualOf);
    await expect(manuals.join("\n")).toMatchFileSnapshot("command-tree.txt");
  });

  test("are the same where only their own file is loaded", async () => {
    const all = commandsIn(await createProgram([])).filter(({ command }) => command.commands.length === 0);
    for (const { words, command } of all) {
      const loaded = commandsIn(await createProgram(words)).find((each) => each.words.join(" ") === words.join(" "));
      expect(loaded && manualOf(loaded)).toBe(manualOf({ words, command }));
    }
  });
});
