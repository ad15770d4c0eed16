import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readVersion } from "../../src/config/version.ts";
import { newFolder } from "../support/config.ts";
import { DebianRoot } from "./debian-root.ts";
import { NpmRegistry } from "./npm-registry.ts";
import { Page } from "./page.ts";

// Every command of docs/install-npm.md, by an ordinary user with Debian's Node and npm, who installs an earlier version,
// restores a backup, upgrades and removes it. The machines are real. Takes the guest image from this host's cache where it has
// one.

const run = promisify(execFile);
const release = join(import.meta.dirname, "../../build/release");
const version = await readVersion();
const earlierVersion = "0.0.1";
const page = await Page.read("install-npm.md");

let folder: string;
let registry: NpmRegistry;
let host: DebianRoot;
beforeAll(async () => {
  folder = await newFolder();
  registry = await NpmRegistry.start();
  await registry.publish(join(release, `berth-cli-${version}.tgz`));
  await registry.publish(await earlierServer());
  host = await DebianRoot.make("trixie", folder);
  await host.addUser();
  await host.run("apt-get -qq update && apt-get -qq install --no-install-recommends nodejs npm");
  const settings = `@berth:registry=${registry.url}/\ncafile=/etc/ssl/certs/ca-certificates.crt\n`;
  for (const path of ["root/.npmrc", "home/ann/.npmrc"]) await host.write(path, settings);
  await host.takeImages("/var/cache/berth");
  await host.run(`install --directory --owner=ann /home/ann/.cache /home/ann/.cache/berth
    mv /var/cache/berth/* /home/ann/.cache/berth
    find /home/ann/.cache/berth -type d -exec chown ann {} +`);
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await registry[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** The server's package with another version, as a file. */
async function earlierServer(): Promise<string> {
  await run("tar", ["-xzf", join(release, `berth-server-${version}.tgz`), "-C", folder]);
  for (const name of ["package.json", "tree/package.json", "tree/package-lock.json"]) {
    const path = join(folder, "package", name);
    const fields = JSON.parse(await readFile(path, "utf8")) as object;
    await writeFile(path, JSON.stringify({ ...fields, version: earlierVersion }));
  }
  const file = join(folder, "earlier.tgz");
  await run("tar", ["-czf", file, "-C", folder, "package"]);
  return file;
}

/** Starts the server in the foreground of a shell that does not wait for it. */
const start = (text: string) =>
  host.runAsUser(`set -m; ${page.take(text).trim()} >up.log 2>&1 </dev/null & echo $! >up.pid`);
/** Ctrl-C. */
const stop = () => host.runAsUser("kill -INT -- -$(cat up.pid); while kill -0 -- -$(cat up.pid); do sleep 0.1; done");
const berth = (text: string) => host.runAsUser(`$(echo ~/.local/lib/berth/*/berth | tr ' ' '\\n' | tail -1) ${text}`);
const ready = () =>
  expect.poll(() => berth("api GET /readyz").catch(String), { timeout: 900_000 }).toContain('"ready":true');
/** Says whether a machine has the memory that it booted with: the kernel's id of this boot, and a file in memory. */
const memoryOf = (agent: string) => berth(`exec ${agent} -- cat /proc/sys/kernel/random/boot_id /dev/shm/kept`);
const hours = { timeout: 3_600_000 };

test("the first start makes an agent that answers", hours, async () => {
  await host.boot();
  await start("npx @berth/server@latest up");
  await ready();
  expect(await host.run("cat /home/ann/up.log")).toContain("To sign in for the first time: ");
  expect(await page.run(host, "agents create ada")).toMatch(/Linux .* GNU\/Linux/);
  expect(await berth("--version")).toBe(`${earlierVersion}\n`);
});

test("a backup is restored after the host has lost its data", hours, async () => {
  await berth("exec ada -- sh -c 'echo ada >/dev/shm/kept'");
  const before = await memoryOf("ada");
  expect(await page.run(host, "admin verify")).toContain("The backup is complete");
  await stop();
  const restored = await page.run(host, "admin restore");
  expect(restored).toContain("To start it: npx @berth/server@latest up");
  await start("npx @berth/server@latest up");
  await ready();
  expect(await memoryOf("ada")).toBe(before);
});

test("an agent, asleep, keeps its memory over an upgrade", hours, async () => {
  const before = await memoryOf("ada");
  await berth("agents suspend ada");
  await registry.publish(join(release, `berth-server-${version}.tgz`));
  await stop();
  await start("npx @berth/server@latest up");
  await ready();
  expect(await berth("--version")).toBe(`${version}\n`);
  expect(await memoryOf("ada")).toBe(before);
  expect(before).toMatch(/\nada$/m);
  const old = host.runAsUser(`npx @berth/server@${earlierVersion} up`);
  await expect(old).rejects.toThrow(
    `Berth ${version} is installed in /home/ann/.local/lib/berth, and this is the earlier`,
  );
});

test("the tool alone is installed by its name", hours, async () => {
  await page.run(host, "install --global @berth/cli");
  expect(await host.runAsUser("berth --version")).toBe(`${version}\n`);
});

test("a removal leaves no process and no folder", hours, async () => {
  await page.run(host, "deletes all agents");
  expect(await host.run("ps -eo args")).not.toMatch(/qemu-system|src\/main\.ts/);
  expect(
    await host.run("find /home/ann -name '*berth*' -not -name berth.old -not -path '*/.npm/*' -not -name 'berth*.tar'"),
  ).toBe("");
});

test("no command of the page was left out", () => {
  expect(page.leftOut).toEqual([]);
});
