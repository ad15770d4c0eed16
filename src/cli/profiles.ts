import { join } from "node:path";
import { CliError } from "./errors.ts";
import { readJson, replaceJson } from "./private-files.ts";

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
  const remedy = "add the profiles again: berth profiles add";
  const found = readJson<Profiles>(
    fileIn(configFolder),
    (value) => Object.values(value.profiles).every(isProfile),
    remedy,
  );
  return { current: found?.current ?? null, profiles: found?.profiles ?? {} };
}

/** Writes the profiles, readable only by their user: they contain keys. */
export async function writeProfiles(configFolder: string, profiles: Profiles): Promise<void> {
  await replaceJson(fileIn(configFolder), profiles);
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
