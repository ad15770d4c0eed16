import { copyFile, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readVersion } from "../../src/config/version.ts";
import { freePort } from "../../src/core/ports.ts";
import { newFolder } from "../support/config.ts";
import { DebianRoot, earlierPackage } from "./debian-root.ts";

// Every command of docs/install-debian.md, in the order of a user who installs an earlier version, backs it up, upgrades
// it, moves it to another host and removes it. The machines are real. Takes the guest image from this host's cache where
// it has one.

const repository = join(import.meta.dirname, "../..");
const version = await readVersion();
const earlierVersion = "0.0.1";
const page = await readFile(join(repository, "docs/install-debian.md"), "utf8");
const blocks = [...page.matchAll(/^```\n(.*?)^```$/gms)].map(([, text]) => text!);
const run = new Set<string>();

/** Of the new host. */
const sshPort = await freePort();
let packages: string;
let host: DebianRoot;
let newHost: DebianRoot;
beforeAll(async () => {
  packages = await newFolder();
  const file = `berth_${version}_amd64.deb`;
  const built = join(repository, "build/release", file);
  await copyFile(built, join(packages, file));
  await earlierPackage(built, earlierVersion, packages);
  [host, newHost] = [await makeHost("openssh-client"), await makeHost("openssh-server")];
  await host.run(`ssh-keygen -q -t ed25519 -N "" -f /root/.ssh/id_ed25519
    install -D --owner=ann --mode=0600 /root/.ssh/id_ed25519 /home/ann/.ssh/id_ed25519
    printf 'Host new-host\nHostName 127.0.0.1\nPort ${sshPort}\nStrictHostKeyChecking accept-new' >/etc/ssh/ssh_config.d/new.conf`);
  await newHost.run(`printf 'ListenAddress 127.0.0.1\nPort ${sshPort}\n' >/etc/ssh/sshd_config.d/test.conf`);
  await newHost.run(`echo '${await host.run("cat /root/.ssh/id_ed25519.pub")}' >/root/.ssh/authorized_keys`);
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await newHost[Symbol.asyncDispose]();
  await rm(packages, { recursive: true });
});

/** A system with a user `ann` who may do anything with sudo, and without the need to build the guest image. */
async function makeHost(ssh: string): Promise<DebianRoot> {
  const root = await DebianRoot.make("trixie", packages);
  await root.run(`useradd --create-home ann
    printf 'ann ALL=(ALL) NOPASSWD: ALL\nDefaults env_keep += "BERTH_PORT DEBIAN_FRONTEND"\n' >/etc/sudoers.d/ann
    apt-get -qq update && apt-get -qq install ${ssh}
    mkdir --parents --mode=0700 /root/.ssh`);
  await root.takeImages("/var/cache/berth");
  return root;
}

/** Runs a script as `ann`. Returns all output; fails at the first error. */
const asAnn = (root: DebianRoot, script: string) =>
  root.run(`cd /home/ann && exec sudo --user=ann --preserve-env=BERTH_PORT,DEBIAN_FRONTEND bash -ec "$SCRIPT" 2>&1`, {
    SCRIPT: script,
  });

/** Runs the page's one block that contains `text`. A command that follows a log is ended after a while. */
function runBlock(root: DebianRoot, text: string): Promise<string> {
  const found = blocks.filter((block) => block.includes(text));
  expect(found, text).toHaveLength(1);
  run.add(found[0]!);
  return asAnn(root, found[0]!.replaceAll(/^sudo (.* --follow)\b.*$/gm, "sudo timeout 3 $1 || true"));
}

const ready = (root: DebianRoot) =>
  expect.poll(() => root.run("berth api GET /readyz").catch(String), { timeout: 900_000 }).toContain('"ready":true');
/** Says whether a machine has the memory that it booted with: the kernel's id of this boot, and a file in memory. */
const memoryOf = (root: DebianRoot, agent: string) =>
  root.run(`berth exec ${agent} -- sh -c 'cat /proc/sys/kernel/random/boot_id /dev/shm/kept'`);
/** Puts a package where the commands are run. */
const download = (root: DebianRoot, of: string) =>
  root.run(`rm -f /home/ann/*.deb; cp /mnt/berth_${of}_amd64.deb /home/ann`);
const install = "apt install --no-install-recommends ./berth_*_amd64.deb";
const hours = { timeout: 3_600_000 };

test("the first start makes an agent that answers", hours, async () => {
  await host.boot();
  await download(host, earlierVersion);
  await asAnn(host, `sudo ${install}`);
  run.add(`sudo ${install}\n`);
  await host.run(`echo BERTH_PORT=${host.port} >>/etc/berth/berth.env; systemctl restart berth`);
  await ready(host);
  const output = await runBlock(host, "berth agents create ada");
  expect(output).toContain("To sign in for the first time: ");
  expect(output).toMatch(/Linux .* GNU\/Linux/);
});

test("a backup is restored after the host has lost its data", hours, async () => {
  await host.run("berth exec ada -- sh -c 'echo ada >/dev/shm/kept'");
  const before = await memoryOf(host, "ada");
  await host.run("mkdir --mode=0700 /backups");
  expect(await runBlock(host, "berth admin verify")).toContain("The backup is complete");
  await host.run("apt-get -qq remove berth; rm -r /var/lib/berth");
  await asAnn(host, `sudo ${install}`);
  expect(await runBlock(host, "--secret-key /safe/secret.key")).toContain("To start it: systemctl start berth");
  await ready(host);
  expect(await memoryOf(host, "ada")).toBe(before);
});

test("agents, asleep and awake, keep their memory over an upgrade", hours, async () => {
  await host.run("berth agents create bob; berth exec bob -- sh -c 'echo bob >/dev/shm/kept'");
  const before = [await memoryOf(host, "ada"), await memoryOf(host, "bob")];
  await host.run("berth agents suspend ada");
  await download(host, version);
  await runBlock(host, "/backups/before.tar");
  await ready(host);
  expect(await host.run("berth --version")).toBe(`${version}\n`);
  expect([await memoryOf(host, "ada"), await memoryOf(host, "bob")]).toEqual(before);
  expect(before[0]).toMatch(/\nada$/m);
});

test("all agents move to another host with their memory", hours, async () => {
  const before = [await memoryOf(host, "ada"), await memoryOf(host, "bob")];
  await newHost.boot();
  await download(newHost, version);
  await runBlock(newHost, `sudo ${install}\nsudo systemctl stop`);
  await runBlock(host, "scp /etc/berth/berth.env");
  expect(await host.run("ps -eo args")).not.toMatch(/qemu-system|src\/main\.ts/);
  await runBlock(newHost, "rm /root/secret.key");
  newHost.port = host.port;
  await ready(newHost);
  expect([await memoryOf(newHost, "ada"), await memoryOf(newHost, "bob")]).toEqual(before);
});

test("a purge with the answer given ahead deletes all data", hours, async () => {
  await runBlock(newHost, "debconf-set-selections");
  await runBlock(newHost, "apt purge berth");
  expect(await newHost.run("ps -eo args")).not.toMatch(/qemu-system|src\/main\.ts/);
  await expect(newHost.run("ls -d /var/lib/berth")).rejects.toThrow("No such file");
});

test("no command of the page was left out", () => {
  expect(blocks.filter((block) => !run.has(block))).toEqual([]);
});
