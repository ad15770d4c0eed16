import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../src/core/ports.ts";
import { newFolder } from "../support/config.ts";

const run = promisify(execFile);

/** The first process of the root's namespaces: ends when its input does, and with it all processes there. */
const holder = `
mount --make-rprivate /
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount -t tmpfs tmpfs "$1/run"
mount --bind "$2" "$1/mnt"
exec 3<&0
echo ready
cat <&3 >/dev/null &
wait`;

/** A Debian root that has never seen Berth, with mount and process namespaces of its own. It shares the host's network. */
export class DebianRoot implements AsyncDisposable {
  /** Where the server listens that its settings name. */
  readonly port: number;
  readonly #folder: string;
  readonly #holder: ChildProcessWithoutNullStreams;
  readonly #first: string;

  private constructor(folder: string, port: number, child: ChildProcessWithoutNullStreams, first: string) {
    this.#folder = folder;
    this.port = port;
    this.#holder = child;
    this.#first = first;
  }

  /** `packages` is the folder that the root sees as /mnt. */
  static async make(suite: string, packages: string): Promise<DebianRoot> {
    const folder = await newFolder();
    const options = ["--variant=apt", "--include=ca-certificates,iproute2,mount,procps"];
    await run("mmdebstrap", [...options, suite, folder, "http://deb.debian.org/debian"]);
    await useHostsNetwork(folder);
    await copyFile(join(import.meta.dirname, "deb-systemd-invoke"), join(folder, "usr/bin/deb-systemd-invoke"));
    // The root need not survive a power failure.
    await writeFile(join(folder, "etc/dpkg/dpkg.cfg.d/berth-test"), "force-unsafe-io\n");
    const namespaces = ["--mount", "--pid", "--fork", "--kill-child"];
    const child = spawn("unshare", [...namespaces, "sh", "-ec", holder, "sh", folder, packages]);
    await once(child.stdout, "data");
    const first = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
    return new DebianRoot(folder, await freePort(), child, first.trim());
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
    const command = ["chroot", this.#folder, "env", "-i", ...assignments, "sh", "-ec", script];
    const options = ["--target", this.#first, "--mount", "--pid"];
    return (await run("nsenter", [...options, ...command], { maxBuffer: 16 * 1024 * 1024 })).stdout;
  }

  /** From now on systemd seems to run, and `deb-systemd-invoke` stands in for it. The settings name the root's own port. */
  async startSystemd(): Promise<void> {
    await this.run("mkdir -p /run/systemd/system; ln -sf true /usr/bin/systemctl");
    await this.run(`echo BERTH_PORT=${this.port} >>/etc/berth/berth.env`);
  }

  /** Links the complete guest images of a cache on this host into the root's own, which spares it their build. */
  async takeImages(cache: string): Promise<void> {
    const names = await readdir(cache).catch(() => []);
    const complete = names.filter((each) => /^(base|image|openclaw)-[0-9a-f]+(\.openclaw)?$/.test(each));
    for (const each of complete) {
      await run("cp", ["--archive", "--link", join(cache, each), join(this.#folder, "var/cache/berth", each)]);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#holder, "close");
    this.#holder.stdin.end();
    await closed;
    await rm(this.#folder, { recursive: true });
  }
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
