import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { newFolder } from "../support/config.ts";

const run = promisify(execFile);
/** Arguments of setpriv: a test that is killed leaves no process behind. */
const endsWithUs = ["--pdeathsig", "KILL"];
const patience = { timeout: 60_000 };

/**
 * Makes the root's mounts, makes it the root of its namespace, as containers in it need, and waits: ends when its input
 * does, and with it what it has mounted.
 */
const holder = `
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount -t sysfs sysfs "$1/sys"
mount -t tmpfs -o mode=755 tmpfs "$1/dev"
for device in null zero full random urandom tty; do
  touch "$1/dev/$device"
  mount --bind "/dev/$device" "$1/dev/$device"
done
mkdir "$1/dev/net" "$1/dev/pts" "$1/dev/shm"
mknod "$1/dev/net/tun" c 10 200
mount -t tmpfs tmpfs "$1/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
ln -s pts/ptmx "$1/dev/ptmx"
mount -t tmpfs tmpfs "$1/run"
mount --bind "$2" "$1/mnt"
cd "$1"
mkdir .old
pivot_root . .old
umount --lazy .old
rmdir .old
echo ready
cat >/dev/null`;

/** Starts systemd as the first process of namespaces of its own, `$3` among them. */
const starter = `
echo $$ >"$2/cgroup.procs"
exec nsenter --target "$1" --mount unshare --cgroup --pid $3 --fork --kill-child sh -ec '
  mount -t proc proc /proc
  [ -z "$1" ] || mount -t sysfs sysfs /sys
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  ip link set lo up
  exec env -i container=berth-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd
' sh "$3"`;

/** A Debian root that has never seen Berth, with mounts and processes of its own. It shares the host's network. */
export class DebianRoot implements AsyncDisposable {
  /** Where its commands find the server. */
  port: number;
  readonly #folder: string;
  readonly #holder: ChildProcess;
  /** In the hierarchy of version 2, which systemd divides. */
  readonly #controlGroup: string;
  #system: ChildProcess | undefined;
  /** The process whose namespaces commands join: the holder, then systemd. */
  #first: string;

  private constructor(folder: string, port: number, holderProcess: ChildProcess, controlGroup: string) {
    this.#folder = folder;
    this.port = port;
    this.#holder = holderProcess;
    this.#controlGroup = controlGroup;
    this.#first = String(holderProcess.pid);
  }

  /** `packages` is the folder that the root sees as /mnt. systemd does not run before `boot`. */
  static async make(suite: string, packages: string): Promise<DebianRoot> {
    const folder = await newFolder();
    const programs = "ca-certificates,dbus,iproute2,procps,sudo,systemd-sysv";
    await run("mmdebstrap", ["--variant=apt", `--include=${programs}`, suite, folder, "http://deb.debian.org/debian"]);
    await useHostsNetwork(folder);
    const files = {
      // The root need not survive a power failure.
      "etc/dpkg/dpkg.cfg.d/berth-test": "force-unsafe-io\n",
      "etc/apt/apt.conf.d/berth-test": 'APT::Get::Assume-Yes "true";\n',
    };
    for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
    const child = spawn("setpriv", [...endsWithUs, "unshare", "--mount", "sh", "-ec", holder, "sh", folder, packages], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await once(child.stdout!, "data");
    const { stdout } = await run("findmnt", ["--noheadings", "--output=TARGET", "--first-only", "--types=cgroup2"]);
    return new DebianRoot(folder, await freePort(), child, join(stdout.trim(), basename(folder)));
  }

  /** Runs a shell script as root and returns its output. Throws if it fails, with its `code`, `stdout` and `stderr`. */
  async run(script: string, variables: Record<string, string> = {}): Promise<string> {
    const environment = {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: "/root",
      DEBIAN_FRONTEND: "noninteractive",
      BERTH_PORT: String(this.port),
      ...variables,
    };
    const assignments = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const command = ["env", "-i", ...assignments, "bash", "-ec", script];
    const namespaces = this.#system ? ["--mount", "--pid", "--cgroup", "--net"] : ["--mount"];
    const options = { maxBuffer: 16 * 1024 * 1024 };
    const running = run("nsenter", ["--target", this.#first, ...namespaces, ...command], options);
    return (await running.catch(withOutput)).stdout;
  }

  /** Makes a user `ann` who may do anything with sudo. */
  async addUser(): Promise<void> {
    await this.run(`echo "127.0.0.1 $(uname --nodename)" >>/etc/hosts
      useradd --create-home --shell /bin/bash ann
      printf 'ann ALL=(ALL) NOPASSWD: ALL\nDefaults env_keep += "BERTH_PORT DEBIAN_FRONTEND"\n' >/etc/sudoers.d/ann`);
  }

  /** Runs a script as `ann` in `folder` of her home. Returns all output; fails at the first error. */
  runAsUser(script: string, folder = "."): Promise<string> {
    const sudo = "exec sudo --user=ann --preserve-env=BERTH_PORT,DEBIAN_FRONTEND";
    return this.run(`cd "/home/ann/$FOLDER" && ${sudo} bash -ec "$SCRIPT" 2>&1`, { SCRIPT: script, FOLDER: folder });
  }

  /** Starts systemd, and with it the units that are enabled. `network`: "own" is one of loopback alone. */
  async boot(network: "host" | "own" = "host"): Promise<void> {
    await mkdir(this.#controlGroup);
    const namespace = network === "own" ? "--net" : "";
    const command = ["sh", "-ec", starter, "sh", this.#first, this.#controlGroup, namespace];
    const child = spawn("setpriv", [...endsWithUs, ...command], { stdio: ["ignore", "inherit", "inherit"] });
    this.#system = child;
    this.#first = await childOf(child.pid!);
    // Fails where units of the root itself do, such as those that load kernel modules.
    await this.run("until [ -S /run/systemd/private ]; do sleep 0.1; done; systemctl is-system-running --wait || true");
  }

  /** Writes a file; `path` is relative to the root. */
  async write(path: string, text: string): Promise<void> {
    const file = join(this.#folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  /** Links the complete guest images of a cache on this host into the root's own, which spares it their build. */
  async takeImages(cache: string): Promise<void> {
    await this.run("mkdir --parents /var/cache/berth");
    const names = await readdir(cache).catch(() => []);
    const complete = names.filter((each) => /^(base|image|openclaw)-[0-9a-f]+(\.openclaw)?$/.test(each));
    for (const each of complete) {
      await run("cp", ["--archive", "--link", join(cache, each), join(this.#folder, "var/cache/berth", each)]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#system) {
      const exited = once(this.#system, "exit");
      this.#system.kill("SIGKILL");
      await exited;
      await removeControlGroup(this.#controlGroup);
    }
    const closed = once(this.#holder, "close");
    this.#holder.stdin!.end();
    await closed;
    await rm(this.#folder, { recursive: true });
  }
}

/** Adds the output of a program that failed to the error's message, which has what it wrote to standard error. */
function withOutput(error: Error & { stdout: string }): never {
  error.message += `\n${error.stdout}`;
  throw error;
}

/** The process that another one makes. */
function childOf(pid: number): Promise<string> {
  return vi.waitUntil(async () => (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim(), patience);
}

/** Resolves when the processes in it have ended, and it is gone. */
async function removeControlGroup(folder: string): Promise<void> {
  await vi.waitUntil(
    async () => (await readFile(join(folder, "cgroup.events"), "utf8")).includes("populated 0"),
    patience,
  );
  await run("find", [folder, "-depth", "-type", "d", "-exec", "rmdir", "{}", ";"]);
}

/** Has apt and npm in the root reach the network as they do here. */
async function useHostsNetwork(folder: string): Promise<void> {
  const files = ["/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"];
  for (const name of await readdir("/etc/apt/apt.conf.d")) {
    const path = join("/etc/apt/apt.conf.d", name);
    if (/^Acquire::/m.test(await readFile(path, "utf8"))) files.push(path);
  }
  for (const file of files) await copyFile(file, join(folder, file)).catch(() => {});
  await mkdir(join(folder, "root"), { recursive: true });
  await copyFile(join(homedir(), ".npmrc"), join(folder, "root/.npmrc")).catch(() => {});
}

/** Makes a package of an earlier version out of `file` in `folder`, with the same contents. Returns its path. */
export async function earlierPackage(file: string, version: string, folder: string): Promise<string> {
  const root = join(folder, "earlier");
  await run("dpkg-deb", ["--raw-extract", file, root]);
  const control = join(root, "DEBIAN/control");
  await writeFile(control, (await readFile(control, "utf8")).replace(/^Version: .*$/m, `Version: ${version}`));
  const description = join(root, "usr/lib/berth/package.json");
  const fields = JSON.parse(await readFile(description, "utf8")) as object;
  await writeFile(description, JSON.stringify({ ...fields, version }));
  const earlier = join(folder, `berth_${version}_amd64.deb`);
  await run("dpkg-deb", ["--root-owner-group", "-Znone", "--build", root, earlier]);
  await rm(root, { recursive: true });
  return earlier;
}
