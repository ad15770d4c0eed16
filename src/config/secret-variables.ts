import { readFileSync } from "node:fs";
import { ConfigError } from "./variables.ts";

/** Variables that hold keys. Each can be read from a file instead, named by the same variable with `_FILE`. */
export const secretVariables = [
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
  "STRIPE_SECRET_KEY",
  "STRIPE_WEBHOOK_SECRET",
  "BERTH_SECRET_KEY",
  "BERTH_DATABASE_URL",
  "BERTH_SMTP_URL",
] as const;

/** The names of the variables that name files. */
export function fileVariables(): string[] {
  return secretVariables.map((name) => `${name}_FILE`);
}

/** The variables, with `_FILE` ones replaced by the files' contents. Throws `ConfigError`. */
export function withFiles(set: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = { ...set };
  for (const name of secretVariables) {
    const file = set[`${name}_FILE`];
    if (file === undefined) continue;
    if (set[name] !== undefined) throw new ConfigError(`${name}_FILE: ${name} is set too. Give one of them.`);
    try {
      read[name] = readFileSync(file, "utf8").trim();
    } catch (error) {
      throw new ConfigError(`${name}_FILE: ${(error as Error).message}`, { cause: error });
    }
    if (read[name] === "") throw new ConfigError(`${name}_FILE: ${file} is empty.`);
  }
  return read;
}
