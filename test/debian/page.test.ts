import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readVersion } from "../../src/config/version.ts";
import { freePort } from "../../src/core/ports.ts";
import { newFolder } from "../support/config.ts";
import { DebianRoot, earlierPackage } from "./debian-root.ts";
import { Page } from "./page.ts";

// Every command of docs/install-debian.md, in the order of a user who installs an earlier version, backs it up, upgrades
// it, moves it to another host and removes it. The machines are real. Takes the guest image from this host's cache where
// it has one.

const repository = join(import.meta.dirname, "../..");
const version = await readVersion();
const earlierVersion = "0.0.1";
const page = await Page.read("install-debian.md");

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
  await root.addUser();
  await root.run(`apt-get -qq update && apt-get -qq install ${ssh}
    mkdir --parents --mode=0700 /root/.ssh`);
  await root.takeImages("/var/cache/berth");
  return root;
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
  await page.run(host, `sudo ${install}`);
  await host.run(`echo BERTH_PORT=${host.port} >>/etc/berth/berth.env; systemctl restart berth`);
  await ready(host);
  const output = await page.run(host, "berth agents create ada");
  expect(output).toContain("To sign in for the first time: ");
  expect(output).toMatch(/Linux .* GNU\/Linux/);
});

test("a backup is restored after the host has lost its data", hours, async () => {
  await host.run("berth exec ada -- sh -c 'echo ada >/dev/shm/kept'");
  const before = await memoryOf(host, "ada");
  await host.run("mkdir --mode=0700 /backups");
  expect(await page.run(host, "berth admin verify")).toContain("The backup is complete");
  await host.run("apt-get -qq remove berth; rm -r /var/lib/berth");
  await host.runAsUser(`sudo ${install}`);
  expect(await page.run(host, "--secret-key /safe/secret.key")).toContain("To start it: systemctl start berth");
  await ready(host);
  expect(await memoryOf(host, "ada")).toBe(before);
});

test("agents, asleep and awake, keep their memory over an upgrade", hours, async () => {
  await host.run("berth agents create bob; berth exec bob -- sh -c 'echo bob >/dev/shm/kept'");
  const before = [await memoryOf(host, "ada"), await memoryOf(host, "bob")];
  await host.run("berth agents suspend ada");
  await download(host, version);
  await page.run(host, "/backups/before.tar");
  await ready(host);
  expect(await host.run("berth --version")).toBe(`${version}\n`);
  expect([await memoryOf(host, "ada"), await memoryOf(host, "bob")]).toEqual(before);
  expect(before[0]).toMatch(/\nada$/m);
});

test("all agents move to another host with their memory", hours, async () => {
  const before = [await memoryOf(host, "ada"), await memoryOf(host, "bob")];
  await newHost.boot();
  await download(newHost, version);
  await page.run(newHost, `sudo ${install}\nsudo systemctl stop`);
  await page.run(host, "scp /etc/berth/berth.env");
  expect(await host.run("ps -eo args")).not.toMatch(/qemu-system|src\/main\.ts/);
  await page.run(newHost, "rm /root/secret.key");
  newHost.port = host.port;
  await ready(newHost);
  expect([await memoryOf(newHost, "ada"), await memoryOf(newHost, "bob")]).toEqual(before);
});

test("a purge with the answer given ahead deletes all data", hours, async () => {
  await page.run(newHost, "debconf-set-selections");
  await page.run(newHost, "apt purge berth");
  expect(await newHost.run("ps -eo args")).not.toMatch(/qemu-system|src\/main\.ts/);
  await expect(newHost.run("ls -d /var/lib/berth")).rejects.toThrow("No such file");
});

test("no command of the page was left out", () => {
  expect(page.leftOut).toEqual([]);
});
