import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CliError } from "./errors.ts";

const checkout = new URL("../../", import.meta.url);

/** Whether the Debian package has installed this tool. */
export const isPackaged = fileURLToPath(checkout) === "/usr/lib/berth/";

/** The command that starts the server on this host. */
export const startCommand = startOfServer();

function startOfServer(): string {
  const has = (path: string) => existsSync(new URL(path, checkout));
  if (isPackaged && has("start")) return "podman-compose up -d (or docker compose up -d)";
  if (isPackaged && existsSync("/run/systemd/system")) return "systemctl start berth";
  // The npm package of the server has the checkout's scripts/up and no Makefile.
  return has("scripts/up") && !has("Makefile") ? "npx @berth/server@latest up" : "berth up";
}

/**
 * The path of one of the service's programs; `name` is its file in `src`. Throws `CliError` if the tool is installed
 * alone, without the service.
 */
export function programPath(name: string): string {
  const path = fileURLToPath(new URL(`src/${name}`, checkout));
  if (existsSync(path)) return path;
  throw new CliError(
    "This is the tool without the service. Set it up from Berth's repository: git clone, then make up.",
  );
}

/** The command line that runs this tool from another program, also after an update. */
export function toolWords(): string[] {
  const launcher = fileURLToPath(new URL("berth", checkout));
  if (existsSync(launcher)) return [launcher];
  return [process.execPath, fileURLToPath(new URL("berth.js", checkout))]; // The npm package.
}

/** Berth's version, from `package.json`. */
export function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("package.json", checkout), "utf8")) as { version: string };
  return version;
}
