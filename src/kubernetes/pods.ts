import { setTimeout as sleep } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import { BerthError } from "../contract/errors.ts";
import type { MachineObjects } from "./cluster.ts";
import { type KeeperCall, keeperPort, type Outcome, type Passed, type Sent } from "./keeper-calls.ts";
import {
  askKeeper,
  type CallOptions,
  type KeeperAddress,
  KeeperLost,
  type Passage,
  passFiles,
  readFiles,
} from "./keeper-client.ts";
import { runOf, stateOf, whyPending } from "./pod-state.ts";

/** Time limit for a pod to be ready: its image may have to be pulled, its volume attached. */
const podMs = 600_000;
/** How long a machine waits for a node with capacity. */
const roomMs = 60_000;
const pollMs = 250;
/** Time limit for passing all files of a machine. */
const passMs = 1_800_000;

export class Pods {
  readonly objects: MachineObjects;
  readonly #epoch: () => number;
  /** The last addresses of keepers, and the runs of their pods, for the time without an API server. */
  readonly #addresses = new Map<string, KeeperAddress & { run: string }>();
  /** Number of pending calls that need each machine's pod. */
  readonly #calls = new Map<string, number>();
  /** Number of users of each machine's keeper that need the pod only for that time. */
  readonly #borrowers = new Map<string, number>();
  /** Machines whose pods end after the last use. */
  readonly #resting = new Set<string>();
  /** Requested ends of pods. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #closed = new AbortController();

  /** `epoch`: the term of this server, which keepers compare. */
  constructor(objects: MachineObjects, epoch: () => number) {
    this.objects = objects;
    this.#epoch = epoch;
  }

  /** Aborted when the server stops. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  close(): void {
    this.#closed.abort();
  }

  /** Creates the machine's pod. Resolves when its keeper answers. Throws `no_capacity`, `machine_lost`. */
  async ready(id: string, signal?: AbortSignal): Promise<void> {
    this.#calls.set(id, this.#callsOf(id) + 1);
    this.#resting.delete(id);
    await this.#ready(id, signal);
  }

  /** Removes the machine's pod, after its last borrower. */
  async rest(id: string): Promise<void> {
    if (this.#borrowers.has(id)) this.#resting.add(id);
    else await this.#end(id);
  }

  /** Runs `use`, with a pod for that time if the machine has none. Throws as `ready`. */
  async borrow<Result>(id: string, use: () => Promise<Result>): Promise<Result> {
    this.#borrowers.set(id, (this.#borrowers.get(id) ?? 0) + 1);
    const calls = this.#callsOf(id);
    let hadPod = true;
    try {
      hadPod = (await this.objects.set(id))?.spec?.replicas === 1;
      await this.#ready(id);
      return await use();
    } finally {
      if (!hadPod && this.#callsOf(id) === calls) this.#resting.add(id);
      const others = this.#borrowers.get(id)! - 1;
      if (others > 0) this.#borrowers.set(id, others);
      else {
        this.#borrowers.delete(id);
        if (this.#resting.delete(id)) await this.#end(id);
      }
    }
  }

  /** Resolves when its pod is gone. */
  async remove(id: string): Promise<void> {
    await this.objects.remove(id);
    this.#addresses.delete(id);
    this.#calls.delete(id);
    for (const until = performance.now() + podMs; await this.objects.pod(id); await this.pause()) {
      if (performance.now() > until) throw new BerthError("machine_failed", "The machine's pod does not end.");
    }
  }

  async ask<Call extends KeeperCall>(
    id: string,
    call: Call,
    sent: Sent<Call>,
    options: CallOptions = {},
  ): Promise<Outcome<Call>> {
    return this.askAt(await this.address(id), call, sent, options);
  }

  async askAt<Call extends KeeperCall>(
    address: KeeperAddress,
    call: Call,
    sent: Sent<Call>,
    options: CallOptions = {},
  ): Promise<Outcome<Call>> {
    return orLost(askKeeper(address, call, sent, options));
  }

  /** Passes files from one machine's keeper to another's. Throws `machine_lost`, and the keepers' errors. */
  async pass(passed: Passed, passage: Omit<Passage, "signal">): Promise<void> {
    await this.#unlessClosed((signal) => passFiles(passed, { ...passage, signal }));
  }

  /**
   * Runs `use`, which reads files of a machine's keeper, unless `signal` aborts. Throws as `pass`, and the errors of
   * `use`.
   */
  async read<Result>(
    passed: Passed,
    { signal = this.closed, ...source }: Omit<Passage, "to" | "signal"> & { signal?: AbortSignal | undefined },
    use: (files: AsyncIterable<Buffer>) => Promise<Result>,
  ): Promise<Result> {
    return this.#unlessClosed((open) => use(readFiles(passed, { ...source, signal: AbortSignal.any([open, signal]) })));
  }

  async #unlessClosed<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const signal = AbortSignal.any([this.closed, AbortSignal.timeout(passMs)]);
    return orLost(work(signal)).catch((error: unknown) => {
      throw this.closed.aborted ? stopping() : error;
    });
  }

  /** Whether its keeper's address is known. */
  knows(id: string): boolean {
    return this.#addresses.has(id);
  }

  /** The container run in which its keeper was last found. */
  lastRun(id: string): string | null {
    return this.#addresses.get(id)?.run ?? null;
  }

  /** Throws `machine_lost` if it has no pod. */
  async address(id: string): Promise<KeeperAddress> {
    const known = this.#addresses.get(id);
    const pod = await this.objects.pod(id).catch((error: unknown) => {
      // While the API server is unavailable, running machines stay at their addresses.
      if (known) return "unknown" as const;
      throw error;
    });
    return pod === "unknown" ? { ...known!, epoch: this.#epoch() } : this.addressOf(id, pod);
  }

  async addressOf(id: string, pod: V1Pod | null): Promise<KeeperAddress> {
    const host = pod?.status?.podIP;
    // It need not be ready: a probe may be late on a busy node.
    const run = runOf(pod);
    if (!host || run === null) throw new BerthError("machine_lost", "The agent's machine does not run.");
    const token = this.#addresses.get(id)?.token ?? (await this.objects.token(id)) ?? "";
    const address = { host, port: keeperPort, token, epoch: this.#epoch() };
    this.#addresses.set(id, { ...address, run });
    return address;
  }

  /** Whether the pod may still run on an unreachable node. */
  async isOutOfReach({ spec }: V1Pod): Promise<boolean> {
    if (!spec?.nodeName) return false;
    const node = await this.objects.node(spec.nodeName);
    const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
    return node !== null && ready?.status !== "True";
  }

  /** Whether the pod's keeper did not answer because its node is out of reach. False if unknown. */
  async isLost(pod: V1Pod | null): Promise<boolean> {
    return pod !== null && (await this.isOutOfReach(pod).catch(() => false));
  }

  /** Throws `shutting_down`. */
  async pause(): Promise<void> {
    await sleep(pollMs, undefined, { signal: this.closed }).catch(() => {});
    if (this.closed.aborted) throw stopping();
  }

  async #ready(id: string, signal?: AbortSignal): Promise<void> {
    await this.#ending.get(id)?.catch(() => {});
    const set = await this.objects.set(id);
    if (!set) throw new BerthError("machine_lost", "The agent's machine is not in the cluster any more.");
    if (set.spec?.replicas !== 1) await this.objects.scale(id, 1);
    const began = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const pod = await this.objects.pod(id);
      if (pod && isReady(pod)) return;
      // The rest of its last run is on an unreachable node, and another pod starts only when it is gone.
      if (pod?.metadata?.deletionTimestamp && (await this.isLost(pod))) {
        throw new BerthError("machine_lost", "The agent's machine is out of reach: its node is.");
      }
      const waited = performance.now() - began;
      const why = pod ? whyPending(pod) : null;
      if (waited > (why === null ? podMs : roomMs)) throw await this.#givenUp(id, pod, why);
      await this.pause();
    }
  }

  /** Removes a pod that did not start: it would occupy capacity that becomes free later. */
  async #givenUp(id: string, pod: V1Pod | null, why: string | null): Promise<BerthError> {
    const warning = why === null ? await this.objects.warning(id) : null;
    await this.#end(id);
    if (why !== null) return new BerthError("no_capacity", `The cluster has no room: ${why}`);
    return new BerthError("no_capacity", `The machine's pod does not become ready: ${warning ?? stateOf(pod)}`);
  }

  async #end(id: string): Promise<void> {
    const ending = this.objects.scale(id, 0).finally(() => this.#ending.delete(id));
    this.#ending.set(id, ending);
    await ending;
  }

  #callsOf(id: string): number {
    return this.#calls.get(id) ?? 0;
  }
}

function stopping(): BerthError {
  return new BerthError("shutting_down", "The service is being stopped.");
}

/** Throws `machine_lost` for a keeper that was lost. */
async function orLost<Result>(asked: Promise<Result>): Promise<Result> {
  return asked.catch((error: unknown) => {
    if (!(error instanceof KeeperLost)) throw error;
    throw new BerthError("machine_lost", `The agent's machine is out of reach: ${error.message}.`, { cause: error });
  });
}

function isReady({ metadata, status }: V1Pod): boolean {
  if (metadata?.deletionTimestamp) return false;
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}
