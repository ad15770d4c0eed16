import type { Command, Option } from "commander";
import { connect } from "./connect.ts";
import { readEnvironment } from "./environment.ts";
import { readProfiles } from "./profiles.ts";

/** Nobody waits longer for a suggestion. */
const patienceMs = 2_000;

/** What shells take without quotes. Names come from the service, and a shell would run some of what could be in them. */
const harmless = /^[\w@%+=:,./-]+$/;

/**
 * What the last of these words, which may be empty, can be completed to. They are those after `berth`. Names are asked
 * of the service; there are none if it does not answer.
 */
export async function completionsOf(program: Command, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? "";
  const candidates = await candidatesFor(program, words.slice(0, -1), current).catch(() => []);
  return candidates.filter((each) => each.startsWith(current) && harmless.test(each));
}

async function candidatesFor(program: Command, before: readonly string[], current: string): Promise<string[]> {
  let command = program;
  let position = 0;
  let awaited: Option | undefined;
  for (const word of before) {
    const option = awaited ? undefined : optionOf(command, word);
    const below = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (awaited) awaited = undefined;
    else if (option) awaited = takesValue(option) && !word.includes("=") ? option : undefined;
    else if (below) command = below;
    else if (command.commands.length > 0)
      return []; // There is no such command.
    else position++;
  }
  if (awaited) return valuesOf(awaited.attributeName(), awaited.argChoices);
  if (current.startsWith("-")) return command.options.flatMap(({ long }) => long ?? []);
  if (command.commands.length > 0) return command.commands.map((each) => each.name());
  const argument = command.registeredArguments[position];
  return argument ? valuesOf(argument.name(), argument.argChoices, command) : [];
}

function optionOf(command: Command, word: string): Option | undefined {
  const [flag] = word.split("=");
  return command.options.find(({ long, short }) => long === flag || short === flag);
}

const takesValue = ({ required, optional }: Option) => required || optional;

/** What an option or an argument of that name can be. */
async function valuesOf(name: string, choices: readonly string[] | undefined, command?: Command): Promise<string[]> {
  if (choices) return [...choices];
  const environment = readEnvironment();
  if (name === "profile" || command?.parent?.name() === "profiles") {
    return Object.keys(readProfiles(environment.configFolder).profiles);
  }
  const client = connect(environment, { retries: 0 });
  const options = { signal: AbortSignal.timeout(patienceMs) };
  if (name === "model") return (await client.models(options).all()).map(({ id }) => id);
  if (name === "runtime") return (await client.runtimes(options)).map((runtime) => runtime.name);
  const isUser = command?.parent?.name() === "users";
  if (name === "agent" || (name === "name" && !isUser && command?.name() !== "create")) {
    return (await client.agents.list(options).all()).map((agent) => agent.name);
  }
  return [];
}
