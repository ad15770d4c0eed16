import { join } from "node:path";
import type { Authority, CertificateFiles } from "./certificates.ts";
import { Daemon } from "./daemon.ts";
import type { Network } from "./network.ts";

/** Files that the control plane's programs read. */
interface Files {
  server: CertificateFiles;
  client: CertificateFiles;
  manager: string;
  scheduler: string;
}

/**
 * etcd, the API server, the controller manager and the scheduler. They run on the tests' machine, as root, and listen on the
 * bridge's address only.
 */
export class ControlPlane implements AsyncDisposable {
  readonly #folder: string;
  readonly #programs: string;
  readonly #network: Network;
  readonly #authority: Authority;
  readonly #files: Files;
  readonly #daemons = new Map<string, Daemon>();

  private constructor(folder: string, programs: string, network: Network, authority: Authority, files: Files) {
    this.#folder = folder;
    this.#programs = programs;
    this.#network = network;
    this.#authority = authority;
    this.#files = files;
  }

  static async start(folder: string, programs: string, network: Network, authority: Authority): Promise<ControlPlane> {
    const url = `https://${network.address}:6443`;
    const addresses = [network.address, network.apiServiceAddress];
    const [server, client, manager, scheduler] = await Promise.all([
      authority.certify("server", { name: "kube-apiserver", addresses, hosts: ["kubernetes.default.svc"] }),
      authority.certify("api-client", { name: "kube-apiserver", group: "system:masters" }),
      authority.kubeconfig("controller-manager", url, { name: "system:kube-controller-manager" }),
      authority.kubeconfig("scheduler", url, { name: "system:kube-scheduler" }),
    ]);
    const plane = new ControlPlane(folder, programs, network, authority, { server, client, manager, scheduler });
    try {
      await plane.#start("etcd", plane.#etcd());
      await plane.startApiServer();
      await plane.#start("kube-controller-manager", plane.#controllerManager());
      await plane.#start("kube-scheduler", plane.#scheduler());
      return plane;
    } catch (error) {
      await plane[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Throws if one of the programs has exited unexpectedly. */
  async check(): Promise<void> {
    for (const daemon of this.#daemons.values()) await daemon.check();
  }

  /** Kills it. The other programs, nodes and pods keep running. */
  async stopApiServer(): Promise<void> {
    await this.#daemons.get("kube-apiserver")?.kill();
    this.#daemons.delete("kube-apiserver");
  }

  /** Resolves before it answers. */
  async startApiServer(): Promise<void> {
    await this.#start("kube-apiserver", this.#apiServer());
  }

  async #start(name: string, flags: Record<string, string>): Promise<void> {
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    this.#daemons.set(name, await Daemon.start(join(this.#programs, name), args, join(this.#folder, `${name}.log`)));
  }

  #etcd(): Record<string, string> {
    const { server } = this.#files;
    const client = `https://${this.#network.address}:2379`;
    const peer = `https://${this.#network.address}:2380`;
    const trusted = this.#authority.files.certificate;
    return {
      name: "etcd",
      "data-dir": join(this.#folder, "etcd"),
      "listen-client-urls": client,
      "advertise-client-urls": client,
      "cert-file": server.certificate,
      "key-file": server.key,
      "client-cert-auth": "true",
      "trusted-ca-file": trusted,
      "listen-peer-urls": peer,
      "initial-advertise-peer-urls": peer,
      "initial-cluster": `etcd=${peer}`,
      "peer-cert-file": server.certificate,
      "peer-key-file": server.key,
      "peer-client-cert-auth": "true",
      "peer-trusted-ca-file": trusted,
      // The data need not outlive the machine.
      "unsafe-no-fsync": "true",
    };
  }

  #apiServer(): Record<string, string> {
    const { server, client } = this.#files;
    const { files } = this.#authority;
    const address = this.#network.address;
    return {
      "advertise-address": address,
      "bind-address": address,
      "secure-port": "6443",
      "etcd-servers": `https://${address}:2379`,
      "etcd-cafile": files.certificate,
      "etcd-certfile": client.certificate,
      "etcd-keyfile": client.key,
      "cert-dir": join(this.#folder, "api-server"),
      "client-ca-file": files.certificate,
      "tls-cert-file": server.certificate,
      "tls-private-key-file": server.key,
      "kubelet-client-certificate": client.certificate,
      "kubelet-client-key": client.key,
      "kubelet-certificate-authority": files.certificate,
      "kubelet-preferred-address-types": "InternalIP",
      "authorization-mode": "Node,RBAC",
      "enable-admission-plugins": "NodeRestriction",
      "service-account-issuer": "https://kubernetes.default.svc",
      "service-account-key-file": files.certificate,
      "service-account-signing-key-file": files.key,
      "service-cluster-ip-range": this.#network.serviceRange,
      // Pods of a node that is gone are given up after this many seconds; Kubernetes' own default is 300.
      "default-not-ready-toleration-seconds": "5",
      "default-unreachable-toleration-seconds": "5",
    };
  }

  #controllerManager(): Record<string, string> {
    const { files } = this.#authority;
    return {
      kubeconfig: this.#files.manager,
      "bind-address": this.#network.address,
      port: "0",
      "cert-dir": join(this.#folder, "controller-manager"),
      "leader-elect": "false",
      "use-service-account-credentials": "true",
      "service-account-private-key-file": files.key,
      "root-ca-file": files.certificate,
      "cluster-signing-cert-file": files.certificate,
      "cluster-signing-key-file": files.key,
      "flex-volume-plugin-dir": join(this.#folder, "controller-manager/plugins"),
      // A silent node is NotReady after this time. Kubernetes' own default is 40 s.
      "node-monitor-grace-period": "20s",
      "node-monitor-period": "2s",
    };
  }

  #scheduler(): Record<string, string> {
    return {
      kubeconfig: this.#files.scheduler,
      "bind-address": this.#network.address,
      port: "0",
      "cert-dir": join(this.#folder, "scheduler"),
      "leader-elect": "false",
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#daemons.values()].map((daemon) => daemon.kill()));
  }
}
