import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { programPath } from "../checkout.ts";
import { readEnvironment, serverSettings } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { findServer, serverProgram } from "../server-process.ts";
import { settingsText } from "../service/settings-file.ts";
import { Systemd, unitName } from "../service/systemd.ts";
import { unitText } from "../service/unit.ts";
import { writeJson, writeText } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface InstallOptions extends CommonOptions {
  dryRun?: true;
  start: boolean;
}

/** `berth service …` */
export function register(service: Command): void {
  service
    .command("install")
    .description("have systemd run the server: as root the system's, otherwise your own")
    .option("--dry-run", "print the unit and change nothing")
    .option("--no-start", "write and enable it, and do not start it yet")
    .addOption(jsonOption())
    .action(install);
  service
    .command("uninstall")
    .description("stop the server and remove its unit; the data folder and the settings stay")
    .addOption(jsonOption())
    .action(uninstall);
  service
    .command("status")
    .description("show whether systemd runs the server, and whether it is ready")
    .addOption(jsonOption())
    .action(status);
}

async function install({ dryRun, start, json }: InstallOptions): Promise<void> {
  const { systemd, dataFolder, unitFile, environmentFile } = place();
  const program = programPath(serverProgram);
  const isAtHome = [process.execPath, program, dataFolder].some((path) => /^\/(home|root|run\/user)\//.test(path));
  const { isSystem } = systemd;
  const { execPath: node } = process;
  const unit = unitText({ isSystem, node, program, dataFolder, environmentFile, needsHome: isAtHome });
  if (dryRun) {
    if (json) return writeJson(process.stdout, { unitFile, unit, environmentFile });
    return writeText(process.stdout, unit);
  }
  systemd.requireRunning();
  const before = await systemd.state();
  await requireNoOther(dataFolder, before.pid);
  await mkdir(dataFolder, { recursive: true });
  const isNew = await writeSettings(environmentFile);
  await writeUnit(unitFile, unit);
  await systemd.reload();
  await systemd.enable({ start });
  if (start && before.active === "active") await systemd.restart();
  if (json) return writeJson(process.stdout, { unitFile, environmentFile });
  console.log(`${unitFile} is written${start ? ", and the server starts" : ""}.`);
  note(
    isNew
      ? `Its settings are in ${environmentFile}.`
      : `Its settings are in ${environmentFile}, which was there and is unchanged.`,
  );
  if (!isSystem) note("To have it run while you are not signed in: loginctl enable-linger");
}

async function uninstall({ json }: CommonOptions): Promise<void> {
  const { systemd, dataFolder, unitFile, environmentFile } = place();
  systemd.requireRunning();
  if ((await systemd.state()).load === "not-found") throw new CliError(`There is no unit ${unitName} here.`);
  await systemd.disable();
  await rm(unitFile, { force: true });
  await systemd.reload();
  if (json) return writeJson(process.stdout, { unitFile });
  console.log(`${unitFile} is removed. ${dataFolder} and ${environmentFile} stay.`);
  note("Machines that ran go on until the host is shut down, or another server takes them up: berth up");
}

async function status({ json }: CommonOptions): Promise<void> {
  const { systemd } = place();
  systemd.requireRunning();
  const state = await systemd.state();
  const missing = state.active === "active" ? await missingParts() : [];
  const ready = state.active === "active" && missing.length === 0;
  if (!ready) process.exitCode = 1;
  if (json) return writeJson(process.stdout, { ...state, ready, missing });
  if (state.load === "not-found") return writeText(process.stdout, "The service is not installed.\n");
  const lines = [
    `${unitName} is ${state.active}${state.pid === null ? "" : ` (process ${state.pid})`} and ${state.enabled}.`,
    ...(state.restarts > 0 ? [`systemd has started it again ${state.restarts} times.`] : []),
    ...(state.active === "active" ? [ready ? "It is ready." : "It is not ready:"] : []),
    ...missing.map((part) => `  ${part}`),
    `Its log: journalctl${systemd.isSystem ? "" : " --user"} --unit berth`,
  ];
  writeText(process.stdout, `${lines.join("\n")}\n`);
}

/** The service manager and the files of the unit. */
function place() {
  const systemd = new Systemd(process.getuid?.() === 0);
  const { dataFolder, configFolder } = readEnvironment();
  const unitFile = systemd.unitFile(dirname(configFolder));
  const environmentFile = systemd.isSystem ? "/etc/berth/berth.env" : join(configFolder, "berth.env");
  return { systemd, dataFolder, unitFile, environmentFile };
}

/** Two servers on one data folder would fail in turn. `own`: the unit's process. */
async function requireNoOther(dataFolder: string, own: number | null): Promise<void> {
  const pid = await findServer(dataFolder);
  if (pid === null || pid === own) return;
  throw new CliError(`A server runs already (process ${pid}). Stop it first: berth down`);
}

/** The settings that this command's environment has for the server. Leaves a file that is there. Returns false then. */
async function writeSettings(file: string): Promise<boolean> {
  if (existsSync(file)) return false;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, settingsText(serverSettings()), { mode: 0o600, flag: "wx" });
  return true;
}

async function writeUnit(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.partial`, text, { mode: 0o644 });
  await rename(`${file}.partial`, file);
}

/** What the server on this machine says that it lacks. */
async function missingParts(): Promise<string[]> {
  const { localUrl } = readEnvironment();
  if (localUrl === null) return [];
  try {
    const response = await fetch(`${localUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const { checks } = (await response.json()) as { checks: Record<string, { ok: boolean; message: string }> };
    return Object.entries(checks)
      .filter(([, { ok }]) => !ok)
      .map(([name, { message }]) => `${name}: ${message}`);
  } catch {
    return [`nothing answers at ${localUrl}`];
  }
}
