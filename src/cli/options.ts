import { type Command, InvalidArgumentError, Option } from "commander";

/** `--json`, on every command that prints an answer. */
export function jsonOption(): Option {
  return new Option("--json", "print JSON, as the API answers it");
}

/** `--yes`, on commands that cannot be undone. */
export function yesOption(): Option {
  return new Option("-y, --yes", "do not ask for confirmation");
}

/** `--limit`, on commands that list the newest of many. */
export function limitOption(usual: number): Option {
  return new Option("-n, --limit <number>", "how many of the newest to show").argParser(positiveNumber).default(usual);
}

/** `--no-wait`, on commands that install an agent. */
export function noWaitOption(): Option {
  return new Option("--no-wait", "do not wait until the agent is ready");
}

/** `--user`, on commands that run a program in an agent's machine. */
export function userOption(description: string): Option {
  return new Option("-u, --user <user>", description).choices(["agent", "root"]).default("agent");
}

/** An option that may be given several times. Its value is a list. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text: string, all: string[] = []) => [...all, text]);
}

/** The options of most commands. */
export interface CommonOptions {
  json?: true;
}

/** The options of every command, from `addGlobalOptions`. */
export interface GlobalOptions {
  profile?: string;
  quiet?: true;
  verbose?: true;
}

/** Adds `--profile`, `--quiet` and `--verbose` to a command and to all below it. */
export function addGlobalOptions(command: Command): void {
  command.addOption(new Option("--profile <name>", "use the service of that name; see berth profiles"));
  command.addOption(new Option("-q, --quiet", "print the result alone").conflicts("verbose"));
  command.addOption(new Option("--verbose", "log each request on stderr: status, request id and time"));
  for (const each of command.commands) addGlobalOptions(each);
}

export function positiveNumber(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError("A whole number above 0 is allowed.");
  }
  return number;
}
