import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isPackaged, programPath, startCommand } from "../checkout.ts";
import type { ToolCommand } from "../command.ts";
import { readEnvironment, serverSettings } from "../environment.ts";
import { CliError } from "../errors.ts";
import type { CommonOptions } from "../options.ts";
import { replaceFile } from "../private-files.ts";
import { failedChecks, findServer, serverProgram } from "../server-process.ts";
import { settingsText } from "../service/settings-file.ts";
import { Systemd, type UnitState, unitName } from "../service/systemd.ts";
import { unitText } from "../service/unit.ts";
import { printable, writeJson, writeText } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface InstallOptions extends CommonOptions {
  dryRun?: true;
  start: boolean;
}

export function register(program: ToolCommand): void {
  const service = program.add("service", "have systemd run the server");
  service
    .add("install", "have systemd run the server: as root the system's, otherwise your own")
    .option("--dry-run", "print the unit and change nothing")
    .option("--no-start", "write and enable it, and do not start it yet")
    .runs(install);
  service
    .add("uninstall", "stop the server and remove its unit; keep the data folder and the settings")
    .prints(uninstall, ({ unitFile }) => {
      const { dataFolder, environmentFile } = place();
      console.log(`${unitFile} was removed. ${dataFolder} and ${environmentFile} were kept.`);
      note(`Running machines continue until the host is shut down, or another server takes them over: ${startCommand}`);
    });
  service.add("status", "show whether systemd runs the server, and whether it is ready").prints(status, statusText);
}

async function install({ dryRun, start, json }: InstallOptions): Promise<void> {
  requireCheckout();
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
  const isNew = !existsSync(environmentFile);
  if (isNew) await replaceFile(environmentFile, settingsText(serverSettings()));
  await mkdir(dirname(unitFile), { recursive: true });
  await writeFile(`${unitFile}.partial`, unit, { mode: 0o644 });
  await rename(`${unitFile}.partial`, unitFile);
  await systemd.control("daemon-reload");
  await systemd.control("enable", ...(start ? ["--now"] : []), unitName);
  // Makes a running unit use its changed files.
  if (start && before.active === "active") await systemd.control("restart", unitName);
  if (json) return writeJson(process.stdout, { unitFile, environmentFile });
  console.log(`${unitFile} is written${start ? ", and the server starts" : ""}.`);
  note(`Its settings are in ${environmentFile}${isNew ? "" : ", which existed and was not changed"}.`);
  if (!isSystem) note("To have it run while you are not signed in: loginctl enable-linger");
}

async function uninstall(): Promise<{ unitFile: string }> {
  requireCheckout();
  const { systemd, unitFile } = place();
  systemd.requireRunning();
  if ((await systemd.state()).load === "not-found") throw new CliError(`There is no unit ${unitName} here.`);
  await systemd.control("disable", "--now", unitName);
  await rm(unitFile, { force: true });
  await systemd.control("daemon-reload");
  return { unitFile };
}

interface Status extends UnitState {
  ready: boolean;
  missing: string[];
}

async function status(): Promise<Status> {
  const { systemd } = place();
  systemd.requireRunning();
  const state = await systemd.state();
  const missing = state.active === "active" ? await missingParts() : [];
  const ready = state.active === "active" && missing.length === 0;
  if (!ready) process.exitCode = 1;
  return { ...state, ready, missing };
}

function statusText({ load, active, enabled, pid, restarts, ready, missing }: Status): string {
  if (load === "not-found") return "The service is not installed.";
  const lines = [
    `${unitName} is ${active}${pid === null ? "" : ` (process ${pid})`} and ${enabled}.`,
    ...(restarts > 0 ? [`systemd has restarted it ${restarts} times.`] : []),
    ...(active === "active" ? [ready ? "It is ready." : "It is not ready:"] : []),
    ...missing.map((part) => `  ${printable(part)}`),
    `Its log: journalctl${place().systemd.isSystem ? "" : " --user"} --unit berth`,
  ];
  return lines.join("\n");
}

/** A unit in /etc would replace the package's. Throws `CliError`. */
function requireCheckout(): void {
  if (!isPackaged) return;
  throw new CliError(
    "The Debian package manages the unit. To start it: systemctl enable --now berth. To remove it: apt remove berth",
  );
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
  throw new CliError(`A server is already running (process ${pid}). Stop it first: berth down`);
}

/** The checks that the server on this machine does not pass yet. */
async function missingParts(): Promise<string[]> {
  const { localUrl } = readEnvironment();
  if (localUrl === null) return [];
  return failedChecks(localUrl).catch(() => [`nothing listens at ${localUrl}`]);
}
