import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { kill } from "../../src/core/process-table.ts";
import type { Authority } from "./certificates.ts";
import { Daemon } from "./daemon.ts";
import { pauseImage } from "./images.ts";
import type { Network } from "./network.ts";
import { poll } from "./poll.ts";

const run = promisify(execFile);
const init = new URL("node-init.sh", import.meta.url).pathname;

/** A node's settings of its cluster. */
interface NodeOptions {
  /** The cluster's folder. */
  folder: string;
  programs: string;
  network: Network;
  authority: Authority;
  index: number;
  /** How many nodes the cluster has. */
  count: number;
}

/**
 * A node: containerd, a kubelet and a kube-proxy in namespaces of their own. Each says that it has all of this machine's
 * processors and memory. Its containers see a processor of its own in /proc/cpuinfo.
 */
export class ClusterNode implements AsyncDisposable {
  readonly name: string;
  readonly address: string;
  readonly #options: NodeOptions;
  /** The parent of the node's first process. */
  #parent: Daemon | null = null;
  /** The node's first process, as this machine counts. */
  #pid = 0;

  private constructor(options: NodeOptions) {
    this.name = nodeName(options.index);
    this.address = options.network.nodeAddress(options.index);
    this.#options = options;
  }

  /** Writes the node's settings and starts it. Resolves before it is Ready. */
  static async start(options: NodeOptions): Promise<ClusterNode> {
    const node = new ClusterNode(options);
    await mkdir(node.folder, { recursive: true });
    await node.#writeSettings();
    try {
      await node.start();
      return node;
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Has the logs of its programs, and what it keeps when it is started again. */
  get folder(): string {
    return join(this.#options.folder, "nodes", this.name);
  }

  /** Starts it, as a machine is switched on: its images and containers are still known, none of them runs. */
  async start(): Promise<void> {
    const { folder, programs, network, index } = this.#options;
    const namespaces = ["--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc"];
    const command = [...namespaces, "--propagation", "private", "sh", init, folder, this.name, programs];
    this.#parent = await Daemon.start("unshare", command, join(this.folder, "init.log"));
    this.#pid = await this.#firstProcess(this.#parent);
    await network.connect(index, this.#pid);
  }

  /** Kills kubelet, containerd and all containers at once, as a power cut does. */
  async kill(): Promise<void> {
    // The parent ends when the first process has ended, and that is when all others have.
    if (this.#parent?.isRunning && this.#pid) kill(this.#pid);
    else await this.#parent?.kill();
    await this.#parent?.ended;
    this.#parent = null;
    this.#pid = 0;
    await this.#options.network.remove(this.#options.index);
  }

  /** Cuts its network off. Its programs and pods keep running. */
  async disconnect(): Promise<void> {
    await this.#options.network.setConnected(this.#options.index, false);
  }

  async reconnect(): Promise<void> {
    await this.#options.network.setConnected(this.#options.index, true);
  }

  /** Has its containers see another processor, also those that run. */
  async setProcessor(model: string): Promise<void> {
    const told = await readFile("/proc/cpuinfo", "utf8");
    await writeFile(this.#processor, told.replace(/^(model name\s*:).*$/gm, `$1 ${model}`));
  }

  /** Imports an image archive. Waits until containerd answers. */
  async load(archive: string): Promise<void> {
    await poll("containerd answers", () => this.#isAnswering());
    await this.ctr("images", "import", archive);
  }

  /** Runs containerd's own tool over Kubernetes' containers and images, and returns its output. */
  async ctr(...args: string[]): Promise<string> {
    return this.run(join(this.#options.programs, "ctr"), ["--namespace", "k8s.io", ...args]);
  }

  async #isAnswering(): Promise<boolean> {
    return this.ctr("version").then(
      () => true,
      () => false,
    );
  }

  /** Runs a program of this machine in the node, and returns its output. */
  async run(program: string, args: string[]): Promise<string> {
    await this.check();
    const { stdout } = await run("nsenter", ["--target", String(this.#pid), "--all", "--", program, ...args]);
    return stdout;
  }

  /** Throws if the node has exited unexpectedly. */
  async check(): Promise<void> {
    await this.#parent?.check();
  }

  async #firstProcess({ pid }: Daemon): Promise<number> {
    for (;;) {
      await this.check();
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
      // Until its own program runs, it may not be in its namespaces yet.
      const child = Number(children.trim());
      const command = child ? await readFile(`/proc/${child}/cmdline`, "utf8").catch(() => "") : "";
      if (command.startsWith("sh\0")) return child;
      await sleep(10);
    }
  }

  async #writeSettings(): Promise<void> {
    const { network, authority, index, count, folder } = this.#options;
    const url = `https://${network.address}:6443`;
    const cgroup = `${basename(folder)}/${this.name}`;
    const settings = {
      address: this.address,
      gateway: network.address,
      pods: network.podRange,
      cgroup,
      kubeconfig: await authority.kubeconfig(this.name, url, {
        name: `system:node:${this.name}`,
        group: "system:nodes",
      }),
      proxy_kubeconfig: await authority.kubeconfig(`${this.name}-proxy`, url, { name: "system:kube-proxy" }),
    };
    const others = Array.from({ length: count }, (_, other) => other).filter((other) => other !== index);
    const files = {
      settings: Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`),
      routes: others.map((other) => `${network.nodePods(other)} ${network.nodeAddress(other)}\n`),
      "containerd.toml": [this.#containerd()],
      "runtime-spec.json": [JSON.stringify(await this.#containerSpec())],
      cpuinfo: [await readFile("/proc/cpuinfo", "utf8")],
      "kubelet.json": [JSON.stringify(await this.#kubelet(cgroup))],
      "cni/pods.conflist": [JSON.stringify(this.#podNetwork())],
    };
    await mkdir(join(this.folder, "cni"));
    for (const [name, lines] of Object.entries(files)) await writeFile(join(this.folder, name), lines.join(""));
    await writeFile(join(this.folder, "resolv.conf"), "");
  }

  #containerd(): string {
    return `version = 2
[plugins."io.containerd.internal.v1.opt"]
path = "/var/lib/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${pauseImage}"
# Root of a container or a small virtual machine may not protect processes from the kernel's choice when memory is short.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${this.#options.programs}/cni"
conf_dir = "${this.folder}/cni"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
base_runtime_spec = "${this.folder}/runtime-spec.json"
`;
  }

  /** The specification of containerd's containers. /proc/cpuinfo is one of the few files in /proc that runc lets a mount cover. */
  async #containerSpec(): Promise<object> {
    const { stdout } = await run(join(this.#options.programs, "ctr"), ["oci", "spec"]);
    const { mounts, process, ...spec } = JSON.parse(stdout) as { mounts: object[]; process: object };
    const processor = { destination: "/proc/cpuinfo", source: this.#processor, options: ["bind", "ro"] };
    // Kubernetes has containers with the limits of containerd itself, not with 1,024 files.
    return { ...spec, process: { ...process, rlimits: [] }, mounts: [...mounts, processor] };
  }

  get #processor(): string {
    return join(this.folder, "cpuinfo");
  }

  async #kubelet(cgroup: string): Promise<object> {
    const { authority } = this.#options;
    const server = await authority.certify(`${this.name}-server`, { name: this.name, addresses: [this.address] });
    return {
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      kind: "KubeletConfiguration",
      address: this.address,
      authentication: {
        anonymous: { enabled: false },
        webhook: { enabled: true },
        x509: { clientCAFile: authority.files.certificate },
      },
      authorization: { mode: "Webhook" },
      tlsCertFile: server.certificate,
      tlsPrivateKeyFile: server.key,
      cgroupDriver: "cgroupfs",
      cgroupRoot: `/${cgroup}`,
      failSwapOn: false,
      volumePluginDir: "/var/lib/kubelet/volume-plugins",
      // There is no name service in the cluster.
      resolvConf: join(this.folder, "resolv.conf"),
      // Disk and memory are shared with whatever else this machine does.
      evictionHard: { "memory.available": "100Mi", "nodefs.available": "1Gi", "imagefs.available": "1Gi" },
      imageGCHighThresholdPercent: 100,
      nodeStatusUpdateFrequency: "4s",
      nodeLeaseDurationSeconds: 12,
    };
  }

  /** Each pod has a route of its own on its node. There is no bridge, so traffic between pods passes kube-proxy's rules. */
  #podNetwork(): object {
    const subnet = this.#options.network.nodePods(this.#options.index);
    const addresses = { type: "host-local", ranges: [[{ subnet }]], routes: [{ dst: "0.0.0.0/0" }] };
    return { cniVersion: "0.4.0", name: "pods", plugins: [{ type: "ptp", ipam: addresses }] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}

/** `a`, `b` and so on. */
function nodeName(index: number): string {
  return String.fromCharCode("a".charCodeAt(0) + index);
}
