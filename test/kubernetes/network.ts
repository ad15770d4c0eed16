import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * The cluster's network: a bridge on this machine, to which each node is connected. This machine has the bridge's
 * address, and routes to the pods. It gets no packet filter rules.
 */
export class Network implements AsyncDisposable {
  /** At most 12 characters, since the nodes' interfaces are named after it. */
  readonly bridge: string;
  /** The second number of all addresses: 10.<block>.0.0/16. */
  readonly #block: number;

  private constructor(bridge: string, block: number) {
    this.bridge = bridge;
    this.#block = block;
  }

  /** The bridge carries the cluster's name. Takes the first block of private addresses that this machine has no route to. */
  static async create(cluster: string): Promise<Network> {
    const { stdout: routes } = await run("ip", ["-4", "route"]);
    const bridges = (await run("ip", ["-o", "link"])).stdout;
    for (let block = 250; block >= 200; block--) {
      const network = new Network(`berth-k${block}`, block);
      if (routes.includes(`10.${block}.`) || bridges.includes(`${network.bridge}:`)) continue;
      try {
        await run("ip", ["link", "add", network.bridge, "type", "bridge"]);
      } catch {
        continue; // Another cluster has just taken it.
      }
      try {
        await run("ip", ["link", "set", network.bridge, "alias", cluster]);
        await run("ip", ["addr", "add", `${network.address}/24`, "dev", network.bridge]);
        await run("ip", ["link", "set", network.bridge, "up"]);
        return network;
      } catch (error) {
        await network[Symbol.asyncDispose]();
        throw error;
      }
    }
    throw new Error("this machine has routes to all of 10.200.0.0 to 10.250.255.255, so the cluster has no addresses");
  }

  /** Of this machine, for nodes and pods. */
  get address(): string {
    return `10.${this.#block}.0.1`;
  }

  get podRange(): string {
    return `10.${this.#block}.128.0/17`;
  }

  get serviceRange(): string {
    return `10.${this.#block}.64.0/24`;
  }

  /** The address of Kubernetes' own service: the first of the range. */
  get apiServiceAddress(): string {
    return `10.${this.#block}.64.1`;
  }

  /** `index` counts from 0. */
  nodeAddress(index: number): string {
    return `10.${this.#block}.0.${10 + index}`;
  }

  nodePods(index: number): string {
    return `10.${this.#block}.${128 + index}.0/24`;
  }

  nodeInterface(index: number): string {
    return `${this.bridge}-${index}`;
  }

  /** Connects the network namespace of process `pid`, where the interface is `eth0`. */
  async connect(index: number, pid: number): Promise<void> {
    const name = this.nodeInterface(index);
    const far = ["peer", "name", "eth0", "netns", String(pid)];
    await run("ip", ["link", "add", name, "master", this.bridge, "type", "veth", ...far]);
    await run("ip", ["link", "set", name, "up"]);
    await run("ip", ["route", "replace", this.nodePods(index), "via", this.nodeAddress(index)]);
  }

  /** The kernel removes the interface some time after the namespace; its name is needed sooner. */
  async remove(index: number): Promise<void> {
    await run("ip", ["link", "del", this.nodeInterface(index)]).catch((error: Error) => {
      if (!error.message.includes("Cannot find device")) throw error;
    });
  }

  /** Unplugs the node's cable, or plugs it in again. */
  async setConnected(index: number, isConnected: boolean): Promise<void> {
    await run("ip", ["link", "set", this.nodeInterface(index), isConnected ? "up" : "down"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run("ip", ["link", "del", this.bridge]);
  }
}
