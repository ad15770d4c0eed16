import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readVersion } from "../../src/config/version.ts";
import { newFolder } from "../support/config.ts";
import { DebianRoot, earlierPackage } from "./debian-root.ts";

// The package that `make deb` has built, in roots that have never seen Berth. Needs root and Debian's mirror.

const version = await readVersion();
const earlierVersion = "0.0.1";
const name = (of: string) => `berth_${of}_amd64.deb`;
/** Purges on a terminal, and answers the question. */
const answering = (answer: string) =>
  `echo ${answer} | DEBIAN_FRONTEND=teletype script --quiet --return --command "dpkg --purge berth" /dev/null`;
const install = (of: string) => `apt-get -qq install -y --no-install-recommends /mnt/${name(of)} 2>&1`;

let packages: string;
beforeAll(async () => {
  packages = await newFolder();
  const built = join(import.meta.dirname, "../../build/release", name(version));
  await copyFile(built, join(packages, name(version)));
  await earlierPackage(built, earlierVersion, packages);
});
afterAll(() => rm(packages, { recursive: true }));

describe.each(["bookworm", "trixie"])("the Debian package in %s", (suite) => {
  let root: DebianRoot;
  beforeAll(async () => {
    root = await DebianRoot.make(suite, packages);
    await root.run("apt-get -qq update");
  });
  afterAll(() => root[Symbol.asyncDispose]());

  /** Resolves when the server answers. */
  const untilAnswering = () =>
    expect.poll(() => root.run("berth api GET /healthz").catch((error: Error) => error.message)).toBe('{"ok":true}');
  const keys = () => root.run("berth keys list");
  const status = () => root.run("dpkg --list berth | tail -n 1");

  test("apt installs it without systemd, and the tool has completion and a manual page", async () => {
    // A disk of its own, to fill later.
    await root.run("mkdir /usr/lib/berth && mount -t tmpfs -o size=2g tmpfs /usr/lib/berth");
    await root.run(install(earlierVersion));
    expect(await root.run("berth --version")).toBe(`${earlierVersion}\n`);
    expect(await root.run("zcat /usr/share/man/man1/berth.1.gz | head -n 1")).toContain(".TH BERTH 1");
    expect(await root.run("stat --format=%a /etc/berth/berth.env")).toBe("600\n");
    expect(await root.run("ls /usr/share/bash-completion/completions/berth")).not.toBe("");
    expect(await root.run("readlink /etc/systemd/system/multi-user.target.wants/berth.service")).toContain(
      "/berth.service",
    );
    await expect(root.run("berth service install")).rejects.toThrow("The Debian package manages the unit");
  });

  test("the server starts with the system, restarts, and serves the tool", async () => {
    await root.run(`echo BERTH_PORT=${root.port} >>/etc/berth/berth.env`);
    // No machine is needed.
    await root.run("systemctl mask berth-image.service");
    await root.boot();
    await untilAnswering();
    await root.run("berth keys create --name kept");
    expect(await root.run("berth runtimes")).toContain("claude-code");
    await root.run("systemctl restart berth");
    await untilAnswering();
    expect(await keys()).toContain("kept");
  });

  test("an upgrade that fills the disk leaves the earlier version running", async () => {
    await root.run("mount -o remount,size=$(($(du -sm /usr/lib/berth | cut -f1) + 20))m /usr/lib/berth");
    await expect(root.run(install(version))).rejects.toMatchObject({
      stdout: expect.stringContaining("No space left on device"),
    });
    await untilAnswering();
    expect(await root.run("berth --version")).toBe(`${earlierVersion}\n`);
    expect(await keys()).toContain("kept");
    await root.run("mount -o remount,size=2g /usr/lib/berth");
  });

  test("an upgrade restarts the server and keeps settings and data", async () => {
    await root.run(install(version));
    await untilAnswering();
    expect(await root.run("berth --version")).toBe(`${version}\n`);
    expect(await keys()).toContain("kept");
    expect(await root.run("cat /etc/berth/berth.env")).toContain(`BERTH_PORT=${root.port}`);
  });

  test("an installation that is killed in postinst is completed by dpkg", async () => {
    const helper = "/usr/bin/deb-systemd-helper";
    await root.run(`mv ${helper} /root; printf '#!/bin/sh\nkill -s KILL $PPID\n' >${helper}; chmod +x ${helper}`);
    await expect(root.run(`${install(version)} --reinstall`)).rejects.toMatchObject({
      stdout: expect.stringMatching(/post-installation script subprocess .*killed/),
    });
    expect(await status()).toMatch(/^iF/);
    await root.run(`mv /root/deb-systemd-helper ${helper}; dpkg --configure -a`);
    await untilAnswering();
    expect(await status()).toMatch(/^ii/);
    expect(await keys()).toContain("kept");
  });

  test("removing stops the server and keeps settings and data", async () => {
    await root.run("umount --lazy /usr/lib/berth; rm -rf /usr/lib/berth/*");
    await root.run(`${install(version)} --reinstall`);
    await untilAnswering();
    await root.run("apt-get -qq remove -y berth 2>&1");
    expect(await root.run("ps -eo args")).not.toMatch(/src\/main\.ts|postgres/);
    expect(await root.run("ls /etc/berth /var/lib/berth")).toMatch(/berth\.env[\s\S]*operator\.key/);
    await expect(root.run("ls /usr/lib/berth")).rejects.toThrow("No such file");
  });

  test.each([
    ["no terminal", "dpkg --purge berth 2>&1"],
    ["the answer no", answering("no")],
  ])("a purge with %s keeps the agents and names their folder", async (_, purge) => {
    await root.run(install(version));
    await root.run("systemctl stop berth");
    expect(await root.run(purge)).toContain("kept in /var/lib/berth");
    expect(await root.run("ls /var/lib/berth")).toContain("operator.key");
    await expect(root.run("ls /etc/berth")).rejects.toThrow("No such file");
    await expect(root.run("ls /var/cache/berth")).rejects.toThrow("No such file");
  });

  test("a purge with the answer yes deletes the agents, and the users of machines", async () => {
    // The purges have removed the settings.
    const folder = "/etc/systemd/system/berth.service.d";
    await root.run(`mkdir ${folder}; printf '[Service]\nEnvironment=BERTH_PORT=${root.port}' >${folder}/port.conf`);
    await root.run(install(version));
    await untilAnswering();
    expect(await keys()).toContain("kept");
    expect(await root.run(answering("yes"))).toContain("Delete all agents and their data?");
    await expect(root.run("ls -d /var/lib/berth")).rejects.toThrow("No such file");
    await expect(root.run("getent passwd berth-vm")).rejects.toMatchObject({ code: 2 });
    expect(await root.run("grep -c berth-vm /etc/subuid || true")).toBe("0\n");
    expect(await root.run("dpkg --list berth 2>&1 || true")).toMatch(/no packages found|^un/m);
  });
});
