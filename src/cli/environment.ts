import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { CliError } from "./errors.ts";

/** What the tool takes from its environment. */
export interface Environment {
  /** Where the API is, without a slash at its end. Null: neither `BERTH_URL` nor a port says it. */
  url: string | null;
  /** Where a server that is started here answers. Null: on any free port. */
  localUrl: string | null;
  /** Absolute path of the server's data folder. */
  dataFolder: string;
  /** Absolute path of the folder for what the tool keeps for its user. */
  configFolder: string;
  /** Null: a login or the operator's key of the data folder is used. */
  apiKey: string | null;
}

/**
 * The one reader of the environment. An empty variable counts as one that is not set, as it does for the server.
 * Throws `CliError` (wrong use) for a value that cannot be.
 */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env): Environment {
  const read = (name: string) => variables[name]?.trim() || null;
  const localUrl = addressOf(read("BERTH_HOST") ?? "127.0.0.1", read("BERTH_PORT") ?? "7420");
  const url = read("BERTH_URL");
  return {
    url: url === null ? localUrl : checkUrl(url),
    localUrl,
    dataFolder: resolve(read("BERTH_DATA_DIR") ?? defaultDataFolder(read("XDG_DATA_HOME"))),
    configFolder: resolve(read("XDG_CONFIG_HOME") ?? join(homedir(), ".config"), "berth"),
    apiKey: checkKey(read("BERTH_API_KEY")),
  };
}

/** The address on which a server that listens on `host` is reached from its own machine. */
function addressOf(host: string, port: string): string | null {
  const number = Number(port);
  if (!/^\d+$/.test(port) || number > 65535) {
    throw new CliError(`BERTH_PORT: ${JSON.stringify(port)} is not a port; allowed: 0 to 65535.`, 2);
  }
  if (number === 0) return null;
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${number}`;
}

function checkUrl(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new CliError("BERTH_URL: its value is not an address of the form http://HOST:PORT or https://HOST.", 2);
  }
  return url.href.replace(/\/+$/, "");
}

function checkKey(key: string | null): string | null {
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    throw new CliError("BERTH_API_KEY: its value has characters that no key has.", 2);
  }
  return key;
}

/** The same that the server takes: root's home is closed to the users that machines run as. */
function defaultDataFolder(xdgDataHome: string | null): string {
  if (process.getuid?.() === 0) return "/var/lib/berth";
  return join(xdgDataHome ?? join(homedir(), ".local", "share"), "berth");
}
