import { execFile } from "node:child_process";
import { access, constants, mkdir, readFile, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Config } from "../config/config.ts";
import { readConfig } from "../config/env.ts";
import { remedies } from "../config/installed.ts";
import { BerthError } from "../contract/errors.ts";
import type { Finding } from "../contract/finding.ts";
import type { Reachability } from "../contract/reachability.ts";
import { childEnvironment } from "../core/child-environment.ts";
import { architecture, processor } from "../core/processor.ts";
import { ProcessorUse } from "../core/processor-use.ts";
import { lastBuiltImage } from "../machines/qemu/open.ts";
import { lastProbe } from "../machines/qemu/probe.ts";
import { qemuVersion } from "../machines/qemu/process.ts";
import { Sandbox } from "../machines/qemu/sandbox.ts";
import { checkReachability } from "../reachability/reachability.ts";
import { certificateFinding } from "./certificate.ts";
import { namespaceFinding } from "./user-namespaces.ts";

// `berth doctor` runs this on the machine that the server is to run on. Each check is one line of JSON (`Finding`).

const run = promisify(execFile);
const emulation = "software emulation, about ten times slower than KVM";
const wantedMemoryMiB = 4096;
const wantedDiskGiB = 8;
/** How long the processors are observed. */
const observedMs = 1_000;

type Check = (config: Config) => Promise<Omit<Finding, "name">>;

const checks: Record<string, Check> = {
  async system() {
    const found = `${process.platform} ${process.arch}`;
    if (found === `linux ${architecture}`) return { ok: true, found };
    return { ok: false, found, problem: `Berth runs on Linux on ${processor.title}.`, fix: "use another machine" };
  },
  async node() {
    const found = process.version;
    if (found.startsWith("v24.")) return { ok: true, found };
    return { ok: false, found, problem: "The pinned Node 24 is not the one that runs.", fix: remedies.setup };
  },
  async qemu() {
    return { ok: true, found: await qemuVersion() };
  },
  async "qemu-img"() {
    const { stdout } = await run("qemu-img", ["--version"], { env: childEnvironment }).catch(() => ({ stdout: "" }));
    if (stdout) return { ok: true, found: stdout.split("\n")[0]! };
    return { ok: false, found: "nothing", problem: "qemu-img is not installed.", fix: "apt-get install qemu-utils" };
  },
  async image(config) {
    const folder = config.imageFolder ?? (await lastBuiltImage());
    const there =
      folder !== null &&
      (await readFile(`${folder}/image.json`).then(
        () => true,
        () => false,
      ));
    if (there) return { ok: true, found: folder };
    return { ok: false, found: folder ?? "nothing", problem: "There is no guest image.", fix: remedies.image };
  },
  async accelerator({ acceleration, dataFolder }) {
    // It works either way, so it is no problem.
    if (acceleration.choice === "tcg") return { ok: true, found: `${emulation}: BERTH_ACCEL is tcg` };
    if (!(await stat("/dev/kvm").catch(() => null))) {
      return {
        ok: true,
        found: `${emulation}: there is no /dev/kvm. Enable virtualization in the firmware, or nested virtualization of this virtual machine`,
      };
    }
    const sandbox = await Sandbox.open({ onlyCheck: true });
    if (!(await sandbox.mayUse("/dev/kvm"))) return { ok: true, found: `${emulation}: ${kvmRefusal()}` };
    const probe = await lastProbe(dataFolder);
    if (!probe) return { ok: true, found: "/dev/kvm can be opened; the server tries a guest on it when it starts" };
    if (probe.fault === null) return { ok: true, found: "KVM: a trial guest ran on it" };
    return { ok: true, found: `${emulation}: the server's trial guest did not run under KVM (${probe.fault})` };
  },
  async users() {
    const { gaps } = await Sandbox.open({ onlyCheck: true });
    // It works either way, so it is no problem.
    const found =
      gaps.length === 0
        ? "each machine has a user, namespaces and a control group of its own, and opens no connections"
        : gaps.join("; ");
    return { ok: true, found };
  },
  async "user namespaces"() {
    const setting = await readFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "utf8").catch(() => "0");
    return namespaceFinding(setting, process.getuid?.() === 0);
  },
  async suspend() {
    const scope = (await readFile("/proc/sys/kernel/yama/ptrace_scope", "utf8").catch(() => "0")).trim();
    // It works either way, so it is no problem.
    const found =
      process.getuid?.() === 0 || scope === "0"
        ? "by what differs from the template: a fraction of a second, some 25 MiB an agent"
        : `whole (kernel.yama.ptrace_scope is ${scope}): seconds and some 500 MiB an agent, for machines that an earlier server started`;
    return { ok: true, found };
  },
  async "data folder"({ dataFolder }) {
    try {
      await mkdir(dataFolder, { recursive: true });
      await access(dataFolder, constants.W_OK);
      return { ok: true, found: dataFolder };
    } catch (error) {
      return {
        ok: false,
        found: dataFolder,
        problem: (error as Error).message,
        fix: "choose another with BERTH_DATA_DIR",
      };
    }
  },
  async certificate(config) {
    return certificateFinding(config);
  },
  async phone(config) {
    return { ok: true, found: (await reachability(config))?.phone.message ?? notChecked };
  },
  async passkeys(config) {
    return { ok: true, found: (await reachability(config))?.passkeys.message ?? notChecked };
  },
  async disk({ dataFolder }) {
    const { bavail, bsize } = await statfs(dataFolder);
    const free = (bavail * bsize) / 1024 ** 3;
    const found = `${free.toFixed(1)} GiB free`;
    if (free >= wantedDiskGiB) return { ok: true, found };
    return {
      ok: false,
      found,
      problem: `Image, template and a few agents take ${wantedDiskGiB} GiB.`,
      fix: "free some space, or choose another disk with BERTH_DATA_DIR",
    };
  },
  async stored({ dataFolder }) {
    const sizes = await Promise.all(
      ["machines", "templates", "images", "postgres"].map(async (name) => {
        const { stdout } = await run("du", ["-sm", "--", join(dataFolder, name)], { env: childEnvironment }).catch(
          () => ({ stdout: "0" }),
        );
        return `${name} ${parseInt(stdout, 10)} MiB`;
      }),
    );
    return { ok: true, found: sizes.join(", ") };
  },
  async spares({ spares, spareLoad }) {
    if (spares === 0) return { ok: true, found: "none: BERTH_SPARES is 0" };
    const use = new ProcessorUse();
    await sleep(observedMs);
    const percent = (share: number) => `${Math.round(share * 100)} %`;
    const share = use.measure();
    const busy = `the processors are ${percent(share)} busy, the limit is ${percent(spareLoad)} (BERTH_SPARE_LOAD)`;
    // Agents start without a spare too, so it is no problem.
    return { ok: true, found: share < spareLoad ? `up to ${spares}: ${busy}` : `none would be made now: ${busy}` };
  },
  async memory() {
    const kib = Number(/^MemAvailable:\s*(\d+)/m.exec(await readFile("/proc/meminfo", "utf8"))?.[1]);
    const found = `${Math.round(kib / 1024)} MiB available`;
    if (kib / 1024 >= wantedMemoryMiB) return { ok: true, found };
    return {
      ok: false,
      found,
      problem: `A template and two agents take ${wantedMemoryMiB} MiB.`,
      fix: "end other programs, or use a larger machine",
    };
  },
};

const notChecked = "not checked: BERTH_PUBLIC_URL is not set, or the server has not been started yet";

/** The service may be meant for this machine alone, so none of this is a problem. */
async function reachability({
  publicUrl,
  secretKey,
  dataFolder,
}: Config): Promise<Omit<Reachability, "certificate"> | null> {
  const key = secretKey ?? (await readFile(join(dataFolder, "secret.key"), "utf8").catch(() => null));
  return publicUrl === null || key === null ? null : checkReachability(publicUrl, key.trim());
}

/** Why QEMU's user is not allowed to open /dev/kvm, and what lets it. */
function kvmRefusal(): string {
  if (process.getuid?.() !== 0) return "this user may not open /dev/kvm. For KVM: sudo usermod -aG kvm $USER";
  return "the machines' user may not open /dev/kvm. For KVM: chgrp kvm /dev/kvm && chmod 0660 /dev/kvm";
}

const config = readConfig(process.env);
for (const [name, check] of Object.entries(checks)) {
  const finding = await check(config).catch((error: unknown) => ({ ok: false, found: "nothing", ...problemOf(error) }));
  console.log(JSON.stringify({ name, ...finding }));
}

/** A configuration error of a part of the server, with the command that its message ends in. */
function problemOf(error: unknown): Pick<Finding, "problem" | "fix"> {
  const message = error instanceof Error ? error.message : String(error);
  const fix = error instanceof BerthError ? /: ([^:]+)$/.exec(message)?.[1] : undefined;
  return { problem: message, ...(fix ? { fix } : {}) };
}
