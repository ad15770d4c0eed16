import { InvalidArgumentError, Option } from "commander";

/** `--json`, available on every command. */
export function jsonOption(): Option {
  return new Option("--json", "print JSON, as the API answers it");
}

/** The options of every command. */
export interface CommonOptions {
  json?: true;
}

export function positiveNumber(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError("A whole number above 0 is allowed.");
  }
  return number;
}
