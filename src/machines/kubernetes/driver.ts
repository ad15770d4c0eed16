import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { V1Pod, V1StatefulSet } from "@kubernetes/client-node";
import { BerthError } from "../../contract/errors.ts";
import type { Progress } from "../../service/lifecycle/provisioning.ts";
import type { MachineSpec } from "../../service/lifecycle/reconciler.ts";
import type { Handshake } from "../connect.ts";
import type { Driver, KeptSnapshot, MachineObservation, RunningMachine, SnapshotFacts } from "../driver.ts";
import type { MachineObjects } from "./cluster.ts";
import { type KeeperCall, keeperPort, type Sent } from "./keeper-calls.ts";
import { askKeeper, type CallOptions, dialGuest, type KeeperAddress, KeeperLost } from "./keeper-client.ts";
import { machineLabel, observedAnnotation, snapshotsAnnotation } from "./objects.ts";

/** How long a pod may take until it is ready: its image may have to be pulled, its volume attached. */
const podMs = 600_000;
/** How long a machine waits in line for a node that has room. */
const roomMs = 60_000;
const pollMs = 250;
/** How long a keeper that is said to run may fail to answer until it counts as out of reach. */
const lookMs = 15_000;
/** How many machines are looked at at once. */
const looksAtOnce = 16;

interface KubernetesOptions {
  objects: MachineObjects;
  /** The guest image in the machines' container image. */
  imageId: string;
  /** The term of this server, which keepers compare. */
  epoch: () => number;
}

/**
 * Virtual machines as QEMU in pods of a Kubernetes cluster: each machine is a StatefulSet of no or one pod with a volume of
 * its own. In the pod a keeper drives QEMU, as one machine's host does. This driver sees to the pod, and asks the keeper
 * for the rest. What was last seen of a machine is kept with its StatefulSet, for the time in which it has no pod.
 */
export class KubernetesDriver implements Driver {
  readonly accelerator = "kubernetes";
  readonly imageId: string;
  readonly #objects: MachineObjects;
  readonly #epoch: () => number;
  /** Where keepers were last, and in which run of their pods, for the time in which the API server is away. */
  readonly #addresses = new Map<string, KeeperAddress & { run: string }>();
  readonly #closed = new AbortController();

  constructor({ objects, imageId, epoch }: KubernetesOptions) {
    this.#objects = objects;
    this.imageId = imageId;
    this.#epoch = epoch;
  }

  async prepare(): Promise<void> {
    // Machines boot from the image in their pod.
  }

  async sweep(): Promise<void> {
    // A machine's files go with its volume.
  }

  async create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    await this.destroy(spec.id);
    progress.plan(["disk", "machine", "runtime"]);
    progress.begin("disk");
    await this.#objects.create(spec.id, spec.resources);
    // The pod's way to its node is none of the steps that the keeper tells.
    const later: Progress = { plan: () => {}, begin: (step) => step !== "disk" && progress.begin(step) };
    await this.#ready(spec.id, signal);
    return this.#change(spec.id, "create", [spec], { progress: later, ...(signal ? { signal } : {}) });
  }

  async boot(spec: MachineSpec): Promise<RunningMachine> {
    await this.#ready(spec.id);
    return this.#change(spec.id, "boot", [spec]);
  }

  async wake(spec: MachineSpec): Promise<RunningMachine | null> {
    await this.#ready(spec.id);
    // Its memory may be gone: what was last seen of it is not what it is.
    if ((await this.#ask(spec.id, "observe", [spec.id])).phase !== "suspended") return null;
    return this.#change(spec.id, "wake", [spec]);
  }

  attach(spec: MachineSpec): Promise<RunningMachine> {
    return this.#ask(spec.id, "attach", [spec]);
  }

  async invalidate(id: string): Promise<void> {
    await this.#change(id, "invalidate", [id]);
  }

  adopting(id: string, token: string, next: string): Promise<void> {
    return this.#ask(id, "adopting", [id, token, next]);
  }

  adopted(id: string): Promise<void> {
    return this.#ask(id, "adopted", [id]);
  }

  token(id: string): Promise<string> {
    return this.#ask(id, "token", [id]);
  }

  async suspend(id: string, signal?: AbortSignal): Promise<void> {
    await this.#change(id, "suspend", [id], signal ? { signal } : {});
    await this.#objects.scale(id, 0);
  }

  async snapshot(id: string, snapshot: string, options: { memory: boolean }): Promise<SnapshotFacts> {
    await this.#ready(id);
    return this.#change(id, "snapshot", [id, snapshot, options]);
  }

  async restore(spec: MachineSpec): Promise<void> {
    if (!(await this.#objects.set(spec.id))) throw elsewhere();
    await this.#ready(spec.id);
    await this.#change(spec.id, "restore", [spec]);
  }

  async removeSnapshot(snapshot: string): Promise<void> {
    const set = (await this.#objects.sets()).find((each) => keptBy(each).some(({ id }) => id === snapshot));
    const id = set && idOf(set);
    if (id === undefined) return;
    const hadPod = set!.spec?.replicas === 1;
    await this.#ready(id);
    await this.#change(id, "removeSnapshot", [snapshot]);
    if (!hadPod) await this.#objects.scale(id, 0);
  }

  async snapshots(): Promise<KeptSnapshot[]> {
    return (await this.#objects.sets()).flatMap(keptBy);
  }

  async stage(): Promise<void> {
    throw new BerthError(
      "archive_unsupported",
      "Machines on Kubernetes are not in the service's backup; back up their volumes with the cluster's own means.",
    );
  }

  async packDisk(): Promise<string> {
    throw new BerthError("archive_unsupported", "An export from Kubernetes has no disk; export without it.");
  }

  async stop(id: string): Promise<void> {
    const set = await this.#objects.set(id);
    if (!set) return;
    const observed = observedOf(set);
    // A memory that is to go with the end of its run is in the volume.
    if (set.spec?.replicas === 1 || observed?.phase === "suspended") {
      await this.#ready(id);
      await this.#change(id, "stop", [id]);
    }
    await this.#objects.scale(id, 0);
  }

  async endHung(id: string): Promise<void> {
    await this.#change(id, "endHung", [id]);
  }

  async destroy(id: string): Promise<void> {
    await this.#objects.remove(id);
    this.#addresses.delete(id);
    for (const until = performance.now() + podMs; await this.#objects.pod(id); await this.#pause()) {
      if (performance.now() > until) throw new BerthError("machine_failed", "The machine's pod does not end.");
    }
  }

  async observe(id: string): Promise<MachineObservation> {
    const set = await this.#objects.set(id).catch((error: unknown) => {
      // While the API server is away, the keeper knows what is with a machine that runs.
      if (this.#addresses.has(id)) return "unknown" as const;
      throw error;
    });
    if (set === "unknown") return this.#ask(id, "observe", [id]);
    return set ? this.#look(set) : { id, generation: 0, restarts: 0, restores: 0, phase: "absent", image: null };
  }

  async list(): Promise<MachineObservation[]> {
    const sets = await this.#objects.sets();
    const seen: MachineObservation[] = [];
    const one = async () => {
      for (let set = sets.pop(); set; set = sets.pop()) seen.push(await this.#look(set));
    };
    await Promise.all(Array.from({ length: looksAtOnce }, one));
    return seen;
  }

  async keepLog(id: string, log: string): Promise<void> {
    await this.#ask(id, "keepLog", [id, log]);
  }

  async keptLog(id: string): Promise<string> {
    const set = await this.#objects.set(id);
    return set?.spec?.replicas === 1 ? this.#ask(id, "keptLog", [id]) : "";
  }

  handshake(id: string): Promise<Handshake> {
    return this.#ask(id, "handshake", [id]);
  }

  async dial(id: string): Promise<Socket> {
    return dialGuest(await this.#address(id), id);
  }

  /** Also resolves when its pod has ended, or its container, or there are others, or its node is out of reach. */
  async ended(id: string): Promise<void> {
    const before = await this.#objects.pod(id).catch(() => undefined);
    const run = before === undefined ? (this.#addresses.get(id)?.run ?? null) : runOf(before);
    while (!this.#closed.signal.aborted) {
      try {
        const address = await this.#address(id);
        return await askKeeper(address, "ended", [id], { signal: this.#closed.signal });
      } catch {
        if (this.#closed.signal.aborted) break;
        const now = await this.#objects.pod(id).catch(() => undefined);
        // What the API server does not tell may go on.
        if (now !== undefined && (runOf(now) !== run || (await this.#isLost(now)))) return;
        await sleep(pollMs, undefined, { signal: this.#closed.signal }).catch(() => {});
      }
    }
    await new Promise(() => {});
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }

  /** Resolves when the machine has a pod whose keeper answers. Throws `no_capacity`, `machine_lost`. */
  async #ready(id: string, signal?: AbortSignal): Promise<void> {
    const set = await this.#objects.set(id);
    if (!set) throw new BerthError("machine_lost", "The agent's machine is not in the cluster any more.");
    if (set.spec?.replicas !== 1) await this.#objects.scale(id, 1);
    const began = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const pod = await this.#objects.pod(id);
      if (pod && isReady(pod)) return;
      // What is left of its last run is on a node that nobody hears of, and another pod comes only when it is gone.
      if (pod?.metadata?.deletionTimestamp && (await this.#isLost(pod))) {
        throw new BerthError("machine_lost", "The agent's machine is out of reach: its node is.");
      }
      const waited = performance.now() - began;
      const why = pod ? whyPending(pod) : null;
      if (waited > (why === null ? podMs : roomMs)) throw await this.#givenUp(id, pod, why);
      await this.#pause();
    }
  }

  /** Takes the pod away that did not come: it would take room that comes later, for nobody. */
  async #givenUp(id: string, pod: V1Pod | null, why: string | null): Promise<BerthError> {
    const warning = why === null ? await this.#objects.warning(id) : null;
    await this.#objects.scale(id, 0);
    if (why !== null) return new BerthError("no_capacity", `The cluster has no room: ${why}`);
    return new BerthError("no_capacity", `The machine's pod does not become ready: ${warning ?? stateOf(pod)}`);
  }

  /** Asks for a change, and keeps with the StatefulSet what is seen after it. */
  async #change<Call extends KeeperCall>(
    id: string,
    call: Call,
    sent: Sent<Call>,
    options: CallOptions = {},
  ): Promise<Awaited<ReturnType<Driver[Call]>>> {
    const address = await this.#address(id);
    const result = await this.#askAt(address, call, sent, options);
    const observed = await this.#askAt(address, "observe", [id]);
    const snapshots = await this.#askAt(address, "snapshots", []);
    await this.#objects.annotate(id, {
      [observedAnnotation]: JSON.stringify(observed),
      [snapshotsAnnotation]: JSON.stringify(snapshots),
    });
    return result;
  }

  async #ask<Call extends KeeperCall>(
    id: string,
    call: Call,
    sent: Sent<Call>,
  ): Promise<Awaited<ReturnType<Driver[Call]>>> {
    return this.#askAt(await this.#address(id), call, sent);
  }

  async #askAt<Call extends KeeperCall>(
    address: KeeperAddress,
    call: Call,
    sent: Sent<Call>,
    options: CallOptions = {},
  ): Promise<Awaited<ReturnType<Driver[Call]>>> {
    try {
      return await askKeeper(address, call, sent, options);
    } catch (error) {
      if (!(error instanceof KeeperLost)) throw error;
      throw new BerthError("machine_lost", `The agent's machine is out of reach: ${error.message}.`, { cause: error });
    }
  }

  async #address(id: string): Promise<KeeperAddress> {
    const known = this.#addresses.get(id);
    const pod = await this.#objects.pod(id).catch((error: unknown) => {
      // While the API server is away, what runs is where it was.
      if (known) return "unknown" as const;
      throw error;
    });
    return pod === "unknown" ? { ...known!, epoch: this.#epoch() } : this.#addressOf(id, pod);
  }

  async #addressOf(id: string, pod: V1Pod | null): Promise<KeeperAddress> {
    const host = pod?.status?.podIP;
    // It need not be ready: a probe may be late on a busy node.
    const run = runOf(pod);
    if (!host || run === null) throw new BerthError("machine_lost", "The agent's machine does not run.");
    const token = this.#addresses.get(id)?.token ?? (await this.#objects.token(id)) ?? "";
    const address = { host, port: keeperPort, token, epoch: this.#epoch() };
    this.#addresses.set(id, { ...address, run });
    return address;
  }

  async #look(set: V1StatefulSet): Promise<MachineObservation> {
    const id = idOf(set)!;
    const last = observedOf(set) ?? { id, generation: 0, restarts: 0, restores: 0, phase: "absent", image: null };
    // Its pod was ended, which saves its memory if there is time. `wake` looks whether it has one.
    const asleep = { ...last, phase: last.phase === "running" ? "suspended" : last.phase } as const;
    if (set.spec?.replicas !== 1) return asleep;
    for (const until = performance.now() + lookMs; ; await this.#pause()) {
      const pod = await this.#objects.pod(id);
      // It comes again.
      if (pod === null) return asleep;
      const isEnding = pod.metadata?.deletionTimestamp !== undefined;
      const seen = isEnding || runOf(pod) === null ? null : await this.#observeAt(id, pod).catch(() => null);
      if (seen) return seen;
      if (await this.#isOutOfReach(pod)) return { ...last, phase: "lost" };
      if (isEnding || runOf(pod) === null) return asleep;
      // What the cluster says of a pod is some moments old, so it may have ended.
      if (performance.now() > until) return { ...last, phase: "lost" };
    }
  }

  async #observeAt(id: string, pod: V1Pod): Promise<MachineObservation> {
    return this.#askAt(await this.#addressOf(id, pod), "observe", [id]);
  }

  /** Whether the pod's keeper did not answer because its node is out of reach. False where nobody can tell. */
  async #isLost(pod: V1Pod | null): Promise<boolean> {
    return pod !== null && (await this.#isOutOfReach(pod).catch(() => false));
  }

  /** Whether the pod may run on a node that nobody hears of. */
  async #isOutOfReach({ spec }: V1Pod): Promise<boolean> {
    if (!spec?.nodeName) return false;
    const node = await this.#objects.node(spec.nodeName);
    const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
    return node !== null && ready?.status !== "True";
  }

  async #pause(): Promise<void> {
    await sleep(pollMs, undefined, { signal: this.#closed.signal }).catch(() => {});
    if (this.#closed.signal.aborted) throw new BerthError("shutting_down", "The service is being stopped.");
  }
}

function idOf({ metadata }: V1StatefulSet): string | undefined {
  return metadata?.labels?.[machineLabel];
}

function observedOf({ metadata }: V1StatefulSet): MachineObservation | null {
  const text = metadata?.annotations?.[observedAnnotation];
  return text === undefined ? null : (JSON.parse(text) as MachineObservation);
}

function keptBy({ metadata }: V1StatefulSet): KeptSnapshot[] {
  return JSON.parse(metadata?.annotations?.[snapshotsAnnotation] ?? "[]") as KeptSnapshot[];
}

function isReady({ metadata, status }: V1Pod): boolean {
  if (metadata?.deletionTimestamp) return false;
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** Which run of its container a pod is in; null if none runs. */
function runOf(pod: V1Pod | null): string | null {
  const [container] = pod?.status?.containerStatuses ?? [];
  return container?.state?.running ? `${pod!.metadata?.uid} ${container.containerID}` : null;
}

/** Why no node takes the pod; null if one has, or may still. */
function whyPending({ status }: V1Pod): string | null {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return scheduled?.status === "False" ? (scheduled.message ?? scheduled.reason ?? "unknown") : null;
}

function stateOf(pod: V1Pod | null): string {
  const waiting = pod?.status?.containerStatuses?.[0]?.state?.waiting;
  return waiting?.message ?? waiting?.reason ?? pod?.status?.phase ?? "there is none";
}

function elsewhere(): BerthError {
  return new BerthError(
    "snapshot_not_found",
    "On Kubernetes a snapshot is in its agent's volume: it can be rolled back to, but no other agent made of it.",
  );
}
