import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readVersion } from "../../src/config/version.ts";
import { newFolder } from "../support/config.ts";
import { DebianRoot, earlierPackage } from "./debian-root.ts";

// Real machines over an upgrade of the package, in Debian 13. Takes the guest image from this host's cache where it has one.

const version = await readVersion();
const earlierVersion = "0.0.1";
const install = (of: string) => `apt-get -qq install -y --no-install-recommends /mnt/berth_${of}_amd64.deb 2>&1`;

let packages: string;
let root: DebianRoot;
beforeAll(async () => {
  packages = await newFolder();
  const file = `berth_${version}_amd64.deb`;
  const built = join(import.meta.dirname, "../../build/release", file);
  await copyFile(built, join(packages, file));
  await earlierPackage(built, earlierVersion, packages);
  root = await DebianRoot.make("trixie", packages);
  await root.run(`apt-get -qq update; ${install(earlierVersion)}`);
  await root.startSystemd();
  await root.takeImages("/var/cache/berth");
});
afterAll(async () => {
  await root[Symbol.asyncDispose]();
  await rm(packages, { recursive: true });
});

/** As berth-image.service does, which the server's unit starts. */
const buildImage = `set -a
  . /etc/berth/berth.env
  for each in $(sed -n 's/^Environment=//p' /usr/lib/systemd/system/berth-image.service); do export "$each"; done
  $(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/berth-image.service)`;

/** Says whether a machine has the memory that it booted with: the kernel's id of this boot, and a file in memory. */
const memoryOf = (agent: string) =>
  root.run(`berth exec ${agent} -- sh -c 'cat /proc/sys/kernel/random/boot_id /dev/shm/kept'`);

test("agents, asleep and awake, keep their memory over an upgrade", { timeout: 3_600_000 }, async () => {
  await root.run(buildImage);
  await root.run("deb-systemd-invoke start berth.service");
  await expect
    .poll(() => root.run("berth api GET /readyz").catch(String), { timeout: 600_000 })
    .toContain('"ready":true');
  for (const agent of ["ada", "bob"]) {
    await root.run(`berth agents create ${agent}`);
    await root.run(`berth exec ${agent} -- sh -c 'echo ${agent} >/dev/shm/kept'`);
  }
  const before = [await memoryOf("ada"), await memoryOf("bob")];
  await root.run("berth agents suspend ada");

  await root.run(install(version));
  await root.run(buildImage);

  await expect
    .poll(() => root.run("berth api GET /readyz").catch(String), { timeout: 600_000 })
    .toContain('"ready":true');
  expect(await root.run("berth --version")).toBe(`${version}\n`);
  expect([await memoryOf("ada"), await memoryOf("bob")]).toEqual(before);
  expect(before[0]).toMatch(/\nada$/m);

  await root.run("apt-get -qq remove -y berth 2>&1");
  expect(await root.run("ps -eo args")).not.toMatch(/qemu-system|src\/main\.ts/);
});
