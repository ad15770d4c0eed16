import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeContainerImage } from "../../scripts/release/container.ts";
import { readVersion } from "../../src/config/version.ts";
import { DebianRoot, earlierPackage } from "../debian/debian-root.ts";
import { Page } from "../debian/page.ts";
import { newFolder } from "../support/config.ts";
import { available, limits } from "./podman.ts";

// Every command of docs/install-container.md, with podman and podman-compose of Debian 12, in the order of a user who installs
// an earlier version, loses and restores it, upgrades it and removes it. The machines are real. The container has no network
// but its host's loopback: it takes the guest image from this host's cache, then from a file.

const release = join(import.meta.dirname, "../../build/release");
const version = await readVersion();
const earlierVersion = "0.0.1";
const page = await Page.read("install-container.md");
const folder = "berth";

let releases: string;
let host: DebianRoot;
beforeAll(async () => {
  releases = await newFolder();
  const earlier = join(releases, earlierVersion);
  await mkdir(earlier);
  const file = await earlierPackage(join(release, `berth_${version}_amd64.deb`), earlierVersion, releases);
  await makeContainerImage(file, earlier, earlierVersion, 1);
  await mkdir(join(releases, version));
  const image = `berth-container-${version}.tar`;
  await copyFile(join(release, image), join(releases, version, image));
  for (const each of [earlierVersion, version]) await takeCompose(each);
  host = await DebianRoot.make("bookworm", releases);
  await host.addUser();
  await host.run(`apt-get -qq update && apt-get -qq install --no-install-recommends \\
      podman podman-compose crun netavark aardvark-dns iptables
    install --directory --owner=ann /home/ann/${folder}`);
  await host.takeImages("/var/cache/berth");
  await host.write("etc/containers/containers.conf", await settingsOfPodman());
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await rm(releases, { recursive: true });
});

/** Copies the release's compose files, without capabilities that this host has not got. */
async function takeCompose(of: string): Promise<void> {
  for (const name of ["compose.yaml", "compose.kvm.yaml"]) {
    const lines = (await readFile(join(release, name), "utf8")).replace(`berth:${version}`, `berth:${of}`).split("\n");
    const capabilities = lines.flatMap((line) => /^ +- ([A-Z_]+)$/.exec(line)?.[1] ?? []);
    const had = await available(capabilities);
    const missing = capabilities.filter((each) => !had.includes(each));
    const possible = lines.filter((line) => !missing.includes(line.trim().replace("- ", "")));
    await writeFile(join(releases, of, name), possible.join("\n"));
  }
}

/** Without control groups: those of this host's version 1 are not in the root. */
async function settingsOfPodman(): Promise<string> {
  const ulimits = JSON.stringify(Object.entries(await limits()).map(([name, limit]) => `${name}=${limit}:${limit}`));
  return `[containers]\ncgroups = "disabled"\ndefault_ulimits = ${ulimits}\n[engine]\ncgroup_manager = "cgroupfs"\n`;
}

/** Puts a release where the commands are run. */
async function download(of: string): Promise<void> {
  page.values.VERSION = of;
  await host.run(`cp /mnt/${of}/* /home/ann/${folder}`);
}

const berth = (...args: string[]) => host.run(`podman exec berth berth ${args.join(" ")}`);
const ready = () =>
  expect.poll(() => berth("api GET /readyz").catch(String), { timeout: 900_000 }).toContain('"ready":true');
/** Says whether a machine has the memory that it booted with: the kernel's id of this boot, and a file in memory. */
const memoryOf = (agent: string) => berth(`exec ${agent} -- cat /proc/sys/kernel/random/boot_id /dev/shm/kept`);
const remember = (agent: string) => berth(`exec ${agent} -- sh -c 'echo ${agent} >/dev/shm/kept'`);
const hours = { timeout: 3_600_000 };

test("the first start makes an agent that answers", hours, async () => {
  await host.boot("own");
  await host.run("podman volume create berth_cache; mv /var/cache/berth/* $(podman volume mount berth_cache)");
  await download(earlierVersion);
  await page.run(host, "touch berth.env", folder);
  await ready();
  expect(await host.run("podman logs berth")).toContain("To sign in for the first time: ");
  expect(await page.run(host, "agents create ada", folder)).toMatch(/Linux .* GNU\/Linux/);
  expect(await berth("--version")).toBe(`${earlierVersion}\n`);
});

test("a backup and an image's file replace lost volumes", hours, async () => {
  await remember("ada");
  const before = await memoryOf("ada");
  expect(await page.run(host, "admin verify", folder)).toContain("The backup is complete");
  await page.run(host, "admin image export", folder);
  await host.run("podman rm --force --time 0 berth; podman volume rm berth_data berth_cache");
  const restored = await page.run(host, "admin restore", folder);
  expect(restored).toContain("To start it: podman-compose up -d (or docker compose up -d)");
  await expect.poll(() => berth("api GET /readyz").catch(String)).toContain("There is no guest image yet");
  await page.run(host, "admin image import", folder);
  await ready();
  expect(await memoryOf("ada")).toBe(before);
});

test("settings and the KVM file apply after a stop, which keeps memory", hours, async () => {
  const before = await memoryOf("ada");
  await host.run(`echo BERTH_MAX_AGENTS=2 >>/home/ann/${folder}/berth.env; mknod /dev/kvm c 10 232 || true`);
  await page.run(host, "podman-compose down --timeout 120     # the volumes stay", folder);
  await ready();
  expect(await host.run("podman exec berth env")).toContain("BERTH_MAX_AGENTS=2");
  await host.runAsUser("sudo podman-compose down --timeout 120", folder);
  await page.run(host, "-f compose.kvm.yaml", folder);
  await ready();
  expect(await host.run("podman exec berth ls /dev/kvm")).toBe("/dev/kvm\n");
  expect(await memoryOf("ada")).toBe(before);
});

test("agents, asleep and awake, keep their memory over an upgrade", hours, async () => {
  await berth("agents create bob");
  await remember("bob");
  const before = [await memoryOf("ada"), await memoryOf("bob")];
  await berth("agents suspend ada");
  await download(version);
  expect(await page.run(host, "podman exec berth berth --version", folder)).toMatch(`\n${version}\n`);
  await ready();
  expect([await memoryOf("ada"), await memoryOf("bob")]).toEqual(before);
  expect(before[0]).toMatch(/\nada$/m);
});

test("a removal leaves no process, volume or image", hours, async () => {
  await page.run(host, "podman volume rm berth_data berth_cache", folder);
  expect(await host.run("ps -eo args")).not.toMatch(/qemu-system|src\/main\.ts/);
  const left = `podman volume ls --quiet; podman ps --all --quiet; podman images --quiet localhost/berth:${version}`;
  expect(await host.run(left)).toBe("");
});

test("no command of the page was left out", () => {
  expect(page.leftOut).toEqual([]);
});
