import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError } from "./errors.ts";

/** Replaces a file that only its user may read. A reader never sees a part of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${randomUUID()}`;
  try {
    await writeFile(partial, text, { mode: 0o600 });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** As `replaceFile`, with a value as JSON. */
export async function replaceJson(path: string, value: unknown): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Reads a file of `replaceJson`; null if there is none. Throws `CliError` for one that cannot be read or
 * whose value `isValid` rejects.
 */
export function readJson<Value>(path: string, isValid: (value: Value) => boolean, remedy: string): Value | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new CliError(`${path} cannot be read: ${message}`);
  }
  try {
    const value = JSON.parse(text) as Value;
    if (isValid(value)) return value;
  } catch {
    // Not JSON, or of another shape.
  }
  throw new CliError(`${path} is damaged. Remove it and ${remedy}`);
}
