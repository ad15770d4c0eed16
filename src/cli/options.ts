import { type Command, InvalidArgumentError, Option } from "commander";

/** `--json`, on every command that prints a response. */
export function jsonOption(): Option {
  return new Option("--json", "print JSON, as the API returns it");
}

/** `--yes`, on commands that cannot be undone. */
export function yesOption(): Option {
  return new Option("-y, --yes", "do not ask for confirmation");
}

/** `--limit`, on commands that list the newest of many. */
export function limitOption(usual: number): Option {
  return new Option("-n, --limit <number>", "how many of the most recent to show")
    .argParser(positiveNumber)
    .default(usual);
}

/** `--conversation`, on commands that use one of an agent's conversations. */
export function conversationOption(description: string): Option {
  return new Option("-c, --conversation <number>", description).argParser(positiveNumber);
}

/** `--no-wait`, on commands that install an agent. */
export function noWaitOption(): Option {
  return new Option("--no-wait", "do not wait until the agent is ready");
}

/** `--user`, on commands that run a program in an agent's machine. */
export function userOption(description: string): Option {
  return new Option("-u, --user <user>", description).choices(["agent", "root"]).default("agent");
}

/** An option that may be repeated. Its value is a list. */
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
  workspace?: string;
  quiet?: true;
  verbose?: true;
}

/** Adds `--profile`, `--workspace`, `--quiet` and `--verbose` to a command and to all below it. */
export function addGlobalOptions(command: Command): void {
  command.addOption(new Option("--profile <name>", "use the service of that profile; see berth profiles"));
  command.addOption(new Option("--workspace <name>", "act in that workspace; see berth workspaces"));
  command.addOption(new Option("-q, --quiet", "print only the result").conflicts("verbose"));
  command.addOption(new Option("--verbose", "log each request on stderr: status, request id and time"));
  for (const each of command.commands) addGlobalOptions(each);
}

export function positiveNumber(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError("Expected a whole number above 0.");
  }
  return number;
}
