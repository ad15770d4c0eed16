import { resolve } from "node:path";
import { z } from "zod";
import { type Issue, safeParseValue } from "../contract/validation.ts";

/** Lists each invalid variable, its value and what is allowed. */
export class ConfigError extends Error {}

/** A file, relative to the working folder. */
export const path = z
  .string()
  .min(1)
  .transform((file) => resolve(file));
/** 0 picks a free port. */
export const port = z.coerce.number().int().min(0).max(65535);

/** The variables that are set: an empty one counts as unset. */
export function present(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
}

/** Throws `ConfigError`. */
export function parse<Schema extends z.ZodType>(schema: Schema, set: NodeJS.ProcessEnv): z.output<Schema> {
  const parsed = safeParseValue(schema, set);
  if (!parsed.success) throw new ConfigError(parsed.issues.map((issue) => complaint(issue, set)).join("\n"));
  return parsed.data;
}

function complaint({ field, message }: Issue, set: Record<string, string | undefined>): string {
  const name = field.split(".")[0]!;
  const value = /_(KEY|URL|SECRET|ENDPOINT)$/.test(name) ? "its value" : JSON.stringify(set[name]);
  return `${name}: ${value} is not allowed. ${message}`;
}
