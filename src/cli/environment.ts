import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { CliError } from "./errors.ts";
import { type Profile, readProfiles, requireProfile } from "./profiles.ts";

/** The tool's settings from its environment and its profiles. */
export interface Environment {
  /** The name of the profile in use; null without one. */
  profile: string | null;
  /** The name or id of the workspace to act in; null: the credential's own. */
  workspace: string | null;
  /** The API's address, without a trailing slash. Null if neither `BERTH_URL` nor a port gives it. */
  url: string | null;
  /** The address of a server started here. Null for any free port. */
  localUrl: string | null;
  /** Absolute path to the server's data folder. */
  dataFolder: string;
  /** Absolute path to the folder where the tool stores its user's data. */
  configFolder: string;
  /** Null to use a login or the data folder's operator key. */
  apiKey: string | null;
  /** The path or the address of the newest version's release file; null if none is set. */
  releaseFile: string | null;
  /** Whether a browser can be opened here. */
  hasDisplay: boolean;
}

/**
 * The only reader of the environment. An empty variable counts as unset, as it does for the server. A profile that is
 * named (`--profile`, `BERTH_PROFILE`) comes before `BERTH_URL`, the current profile after it. `BERTH_API_KEY` comes
 * before a profile's key. Throws `CliError` (wrong use) for an invalid value.
 */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env): Environment {
  const read = (name: string) => variables[name]?.trim() || null;
  const localUrl = addressOf(read("BERTH_HOST") ?? "127.0.0.1", read("BERTH_PORT") ?? "7420");
  const configFolder = resolve(read("XDG_CONFIG_HOME") ?? join(homedir(), ".config"), "berth");
  const { name, profile } = profileFrom(configFolder, read("BERTH_PROFILE"), read("BERTH_URL"));
  return {
    profile: name,
    workspace: read("BERTH_WORKSPACE"),
    url: profile?.url ?? localUrl,
    localUrl,
    dataFolder: resolve(read("BERTH_DATA_DIR") ?? defaultDataFolder(read("XDG_DATA_HOME"))),
    configFolder,
    apiKey: checkKey(read("BERTH_API_KEY")) ?? profile?.key ?? null,
    releaseFile: checkReleaseFile(read("BERTH_RELEASE_FILE")),
    hasDisplay: process.platform === "darwin" || (read("DISPLAY") ?? read("WAYLAND_DISPLAY")) !== null,
  };
}

/** The tool's own variables. The data folder is in the unit of the service, which lets the server write there. */
const notOfTheServer = new Set([
  "BERTH_URL",
  "BERTH_API_KEY",
  "BERTH_PROFILE",
  "BERTH_WORKSPACE",
  "BERTH_DATA_DIR",
  "BERTH_CACHE_DIR",
  "BERTH_RELEASE_FILE",
]);

/** The variables that are set for the server. */
export function serverSettings(variables: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const set = Object.entries(variables).filter(
    ([name, value]) =>
      /^(BERTH|ANTHROPIC|OPENAI|STRIPE|OTEL)_[A-Z_]+$/.test(name) &&
      !/^BERTH_TEST/.test(name) &&
      !notOfTheServer.has(name) &&
      value?.trim(),
  );
  return Object.fromEntries(set) as Record<string, string>;
}

/** Options of `up` that set a variable of the server. */
const optionVariables = {
  tlsCert: "BERTH_TLS_CERT_FILE",
  tlsKey: "BERTH_TLS_KEY_FILE",
  tlsPort: "BERTH_TLS_PORT",
  acme: "BERTH_ACME",
  acmeAgreeTerms: "BERTH_ACME_AGREE_TERMS",
  acmeEmail: "BERTH_ACME_EMAIL",
  acmeChallenge: "BERTH_ACME_CHALLENGE",
  publicUrl: "BERTH_PUBLIC_URL",
} as const;

/** An option without a value is true. */
export type ServerOptions = { [Option in keyof typeof optionVariables]?: string | true };

/** Sets the variables of the options for the server that this process starts. The server checks their values. */
export function setServerOptions(options: ServerOptions): void {
  for (const option of Object.keys(optionVariables) as (keyof ServerOptions)[]) {
    const value = options[option];
    if (value !== undefined) process.env[optionVariables[option]] = String(value);
  }
}

/** The service to use; null: the one on this machine. */
function profileFrom(
  configFolder: string,
  named: string | null,
  url: string | null,
): { name: string | null; profile: Profile | null } {
  if (named === null && url !== null) return { name: null, profile: { url: checkUrl("BERTH_URL", url), key: null } };
  const known = readProfiles(configFolder);
  const name = named ?? known.current;
  return { name, profile: name === null ? null : requireProfile(known, name) };
}

/** The local address for a server that listens on `host`. */
function addressOf(host: string, port: string): string | null {
  const number = Number(port);
  if (!/^\d+$/.test(port) || number > 65535) {
    throw new CliError(`BERTH_PORT: ${JSON.stringify(port)} is not a port; allowed: 0 to 65535.`, 2);
  }
  if (number === 0) return null;
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${number}`;
}

/** The address of a service, without a trailing slash. Throws `CliError` (wrong use), naming where the text is from. */
export function checkUrl(source: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new CliError(`${source}: its value is not an address of the form http://HOST:PORT or https://HOST.`, 2);
  }
  return url.href.replace(/\/+$/, "");
}

function checkKey(key: string | null): string | null {
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    throw new CliError("BERTH_API_KEY contains invalid characters.", 2);
  }
  return key;
}

function checkReleaseFile(source: string | null): string | null {
  if (source === null || isAbsolute(source) || /^https?:$/.test(URL.parse(source)?.protocol ?? "")) return source;
  throw new CliError(
    "BERTH_RELEASE_FILE: an absolute path, or an address that begins with http:// or https://, is allowed.",
    2,
  );
}

/** The server's default as well. Root's home is closed to the users that run machines. */
function defaultDataFolder(xdgDataHome: string | null): string {
  if (process.getuid?.() === 0) return "/var/lib/berth";
  return join(xdgDataHome ?? join(homedir(), ".local", "share"), "berth");
}
