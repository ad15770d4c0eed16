import { type Command, InvalidArgumentError, Option } from "commander";

/** `--json`, available on every command. */
export function jsonOption(): Option {
  return new Option("--json", "print JSON, as the API answers it");
}

/** `--yes`, on commands that cannot be undone. */
export function yesOption(): Option {
  return new Option("-y, --yes", "do not ask for confirmation");
}

/** The options of every command. */
export interface CommonOptions {
  json?: true;
}

/** The options that every command gets by itself. */
export interface GlobalOptions {
  profile?: string;
  quiet?: true;
  verbose?: true;
}

/** Adds `--profile`, `--quiet` and `--verbose` to a command and to all below it. */
export function addGlobalOptions(command: Command): void {
  command.addOption(new Option("--profile <name>", "use the service of that name; see berth profiles"));
  command.addOption(new Option("-q, --quiet", "print the result alone").conflicts("verbose"));
  command.addOption(new Option("--verbose", "tell of each request on stderr: status, request id and time"));
  for (const each of command.commands) addGlobalOptions(each);
}

export function positiveNumber(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError("A whole number above 0 is allowed.");
  }
  return number;
}

/** `--auto-snapshot N`, on commands that set up an agent. */
export function autoSnapshotOption(): Option {
  const text = "keep snapshots from before its last so many turns; 0 for none";
  return new Option("--auto-snapshot <number>", text).argParser((given) => (given === "0" ? 0 : positiveNumber(given)));
}
