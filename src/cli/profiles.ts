import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "./errors.ts";

/** A named service of the tool. */
export interface Profile {
  /** Without a trailing slash. */
  url: string;
  /** Its API key; null: a login, or the local operator's key. */
  key: string | null;
}

/** The tool's profiles, and the default one; null: the service on this machine. */
export interface Profiles {
  current: string | null;
  profiles: Record<string, Profile>;
}

const names = /^[a-z0-9][a-z0-9._-]{0,62}$/;

const fileIn = (configFolder: string) => join(configFolder, "profiles.json");

/** Reads the profiles; none if there is no file. Throws `CliError` for one that cannot be read. */
export function readProfiles(configFolder: string): Profiles {
  const file = fileIn(configFolder);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { current: null, profiles: {} };
    throw new CliError(`${file} cannot be read: ${message}`);
  }
  try {
    const found = JSON.parse(text) as Profiles;
    if (!Object.values(found.profiles).every(isProfile)) throw new TypeError("not profiles");
    return { current: found.current ?? null, profiles: found.profiles };
  } catch {
    throw new CliError(`${file} is damaged. Remove it and add the profiles again: berth profiles add`);
  }
}

/** Writes the profiles completely, readable only by their user: they contain keys. */
export function writeProfiles(configFolder: string, profiles: Profiles): void {
  const file = fileIn(configFolder);
  mkdirSync(configFolder, { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(partial, 0o600); // The file may have existed.
  renameSync(partial, file);
}

/** The profile with that name. Throws `CliError` (wrong use) with the existing names. */
export function requireProfile({ profiles }: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found) return found;
  const known = Object.keys(profiles).toSorted();
  const others =
    known.length > 0 ? `Profiles: ${known.join(", ")}.` : "There are no profiles; add one: berth profiles add";
  throw new CliError(`There is no profile ${JSON.stringify(name)}. ${others}`, 2);
}

/** Throws `CliError` (wrong use) for a name that a profile cannot have. */
export function checkProfileName(name: string): void {
  if (names.test(name)) return;
  throw new CliError(
    "A profile's name may contain lowercase letters, digits, dots, hyphens and underscores, up to 63.",
    2,
  );
}

function isProfile(value: unknown): value is Profile {
  const { url, key } = (value ?? {}) as Partial<Profile>;
  return typeof url === "string" && (key === null || typeof key === "string");
}
