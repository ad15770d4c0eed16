import { Option } from "commander";

/** `--json`, which every command has. */
export function jsonOption(): Option {
  return new Option("--json", "print JSON, as the API answers it");
}

/** The options that every command has. */
export interface CommonOptions {
  json?: true;
}
