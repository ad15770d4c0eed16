#!/usr/bin/env node
// The program of the npm package @berth/server, on the host's own Node, 18 or later. Installs the server with the Node that it
// pins, once for each version, and runs it. `up` sets up what is missing and starts it, `image` builds the guest image, and
// everything else is a command of the tool.
"use strict";
const { spawn, spawnSync } = require("node:child_process");
const { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } = require("node:fs");
const { homedir } = require("node:os");
const { join } = require("node:path");

const { version } = require("./package.json");
const isRoot = process.getuid && process.getuid() === 0;
const programs =
  process.env.BERTH_PROGRAM_DIR || (isRoot ? "/usr/local/lib/berth" : join(homedir(), ".local/lib/berth"));

const fault = faultOfHost() || newerVersion();
if (fault) fail(fault);
run(install(), process.argv.slice(2));

/** Why the server cannot run here; null if it can. */
function faultOfHost() {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < 18) return `Node 18 or later is needed to begin (found: ${process.version}). Berth brings its own.`;
  const host = `${process.platform} ${process.arch}`;
  return host === "linux x64" ? null : `Berth runs on Linux on x86-64 (found: ${host}).`;
}

/** Refuses a version that cannot use the database of a newer one: npx keeps those that it has downloaded. */
function newerVersion() {
  const installed = existsSync(programs) ? readdirSync(programs).filter((name) => /^\d/.test(name)) : [];
  const newer = installed.find((name) => name.localeCompare(version, "en", { numeric: true }) > 0);
  if (!newer) return null;
  return (
    `Berth ${newer} is installed in ${programs}, and this is the earlier version ${version}. ` +
    `Use npx @berth/server@latest, or remove ${join(programs, newer)} to go back.`
  );
}

function fail(message) {
  console.error(`berth: ${message}`);
  process.exit(1);
}

/** The folder of this version. Outside of `node_modules`, where Node runs no TypeScript and npm removes packages. */
function install() {
  const folder = join(programs, version);
  if (existsSync(folder)) return folder;
  let partial;
  try {
    mkdirSync(programs, { recursive: true });
    partial = mkdtempSync(join(programs, `.${version}-`));
    cpSync(join(__dirname, "tree"), partial, { recursive: true });
    const { status } = spawnSync("sh", ["scripts/npm-packages"], { cwd: partial, stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
    else if (!existsSync(folder)) renameSync(partial, folder);
  } catch (error) {
    fail(`Berth cannot be installed in ${programs} (${error.message}). Choose another folder with BERTH_PROGRAM_DIR.`);
  } finally {
    if (partial) rmSync(partial, { recursive: true, force: true });
  }
  if (process.exitCode) process.exit();
  return folder;
}

/** Ends as the program does. A terminal sends its signals to both. */
function run(folder, [task, ...rest]) {
  const [program, args] =
    task === "up" || task === "image"
      ? ["sh", [join(folder, "scripts", task), ...rest]]
      : [join(folder, "berth"), [task, ...rest].filter((word) => word !== undefined)];
  const child = spawn(program, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => {
    if (!signal) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
