import type { Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import type { V1StatefulSet } from "@kubernetes/client-node";
import type { Resources } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { inParallel } from "../core/in-parallel.ts";
import { SerialQueue } from "../core/locks.ts";
import type { Quarantined } from "../core/quarantine.ts";
import type { Handshake } from "../machines/connect.ts";
import type { Driver, KeptSnapshot, MachineObservation, RunningMachine, SnapshotFacts } from "../machines/driver.ts";
import type { ImageRecord } from "../machines/qemu/image.ts";
import { type MachineSpec, type Progress, snapshotDeleted } from "../machines/spec.ts";
import type { MachineObjects } from "./cluster.ts";
import type { KeeperCall, Outcome, Sent } from "./keeper-calls.ts";
import { type CallOptions, dialGuest } from "./keeper-client.ts";
import { isQuarantined, observedOf, snapshotsOf } from "./notes.ts";
import {
  observedAnnotation,
  quarantinedAnnotation,
  snapshotsAnnotation,
  volumeBytesOf,
  volumeMiBOf,
} from "./objects.ts";
import { nothingOf, Observations } from "./observations.ts";
import type { PackedDisks } from "./packed-disks.ts";
import { runOf } from "./pod-state.ts";
import type { Pods } from "./pods.ts";
import type { MadeTemplate, TemplateMachines } from "./template-machines.ts";

/** Limit on concurrent observations. */
const looksAtOnce = 16;

interface KubernetesOptions {
  pods: Pods;
  templates: TemplateMachines;
  /** Disks during their export. */
  disks: PackedDisks;
  /** The guest image in the machines' container image. */
  image: Pick<ImageRecord, "id" | "runtimes">;
  /** A runtime's default machine size, which its templates have. */
  usualResources: (runtime: string) => Resources;
  log: (message: string) => void;
}

/**
 * Virtual machines as QEMU in pods of a Kubernetes cluster: each machine is a StatefulSet of at most one pod with its
 * own volume. In the pod a keeper drives QEMU, like a host with one machine. This driver manages the pod, and calls the
 * keeper for the rest. Files that one machine needs from another pass through this server. A machine's last observation
 * is stored with its StatefulSet, for the time without a pod.
 */
export class KubernetesDriver implements Driver {
  readonly accelerator = "kubernetes";
  readonly imageId: string;
  readonly runtimes: readonly string[] | null;
  readonly #pods: Pods;
  readonly #objects: MachineObjects;
  readonly #templates: TemplateMachines;
  readonly #disks: PackedDisks;
  readonly #observations: Observations;
  /** Calls that change a machine's list of snapshots. Serial, because each rewrites the list in its annotation. */
  readonly #snapshotCalls = new SerialQueue();
  readonly #usual: (runtime: string) => Resources;
  readonly #log: (message: string) => void;
  /** Clones that are not alive yet, and the machines that keep their templates. */
  readonly #clones = new Map<string, string>();

  constructor({ pods, templates, disks, image, usualResources, log }: KubernetesOptions) {
    this.#pods = pods;
    this.#objects = pods.objects;
    this.#templates = templates;
    this.#disks = disks;
    this.#observations = new Observations(pods, log);
    this.imageId = image.id;
    this.runtimes = image.runtimes ?? null;
    this.#usual = usualResources;
    this.#log = log;
  }

  /** A template needs a node, so none can be made before the first machine. */
  async prepare(): Promise<null> {
    return null;
  }

  /** A machine's own files are removed with its volume. */
  sweep(): Promise<void> {
    return this.#templates.sweep();
  }

  /** Returns a clone if a template fits the machine's node. Starts a missing template without waiting for it. */
  async create(spec: MachineSpec, progress: Progress, signal?: AbortSignal): Promise<RunningMachine> {
    await this.destroy(spec.id);
    const isUsual = isDeepStrictEqual(spec.resources, this.#usual(spec.runtime));
    progress.plan(isUsual ? ["disk", "template", "machine", "runtime"] : ["disk", "machine", "runtime"]);
    progress.begin("disk");
    await this.#objects.create(spec.id, spec.resources);
    await this.#pods.ready(spec.id, signal);
    if (isUsual) progress.begin("template");
    const template = isUsual ? await this.#passTemplate(spec) : null;
    signal?.throwIfAborted();
    // The keeper does not report earlier steps.
    const later: Progress = { plan: () => {}, begin: (step) => step === "machine" && progress.begin(step) };
    const options = { progress: later, ...(signal ? { signal } : {}) };
    const machine = await this.#change(spec.id, "create", [spec], options);
    if (machine.origin === "clone" && template) this.#clones.set(spec.id, template.id);
    return machine;
  }

  /** Passes the fitting template to a new machine. Null if the machine has to boot. */
  async #passTemplate({ id, runtime }: MachineSpec): Promise<MadeTemplate | null> {
    try {
      const pod = await this.#objects.pod(id);
      const keeper = await this.#pods.addressOf(id, pod);
      const kind = await this.#pods.askAt(keeper, "templateKind", [runtime]);
      const template = await this.#templates.made(runtime, { node: pod!.spec!.nodeName!, kind });
      if (template) await this.#templates.pass(template, keeper);
      return template;
    } catch (error) {
      this.#log(`machine ${id} boots, without a template of ${runtime}: ${(error as Error).message}`);
      return null;
    }
  }

  async boot(spec: MachineSpec): Promise<RunningMachine> {
    await this.#pods.ready(spec.id);
    return this.#change(spec.id, "boot", [spec]);
  }

  async wake(spec: MachineSpec): Promise<RunningMachine | null> {
    await this.#pods.ready(spec.id);
    // Its memory may be gone, so the last observation can be wrong.
    if ((await this.#pods.ask(spec.id, "observe", [spec.id])).phase !== "suspended") return null;
    return this.#change(spec.id, "wake", [spec]);
  }

  attach(spec: MachineSpec): Promise<RunningMachine> {
    return this.#pods.ask(spec.id, "attach", [spec]);
  }

  async invalidate(id: string): Promise<void> {
    await this.#change(id, "invalidate", [id]);
    const template = this.#clones.get(id);
    this.#clones.delete(id);
    if (template !== undefined) await this.#templates.blame(template);
  }

  adopting(id: string, token: string, next: string): Promise<void> {
    return this.#pods.ask(id, "adopting", [id, token, next]);
  }

  async adopted(id: string): Promise<void> {
    await this.#pods.ask(id, "adopted", [id]);
    const template = this.#clones.get(id);
    this.#clones.delete(id);
    if (template !== undefined) this.#templates.trust(template);
  }

  token(id: string): Promise<string> {
    return this.#pods.ask(id, "token", [id]);
  }

  async suspend(id: string, signal?: AbortSignal): Promise<void> {
    await this.#change(id, "suspend", [id], signal ? { signal } : {});
    await this.#pods.rest(id);
  }

  snapshot(id: string, snapshot: string, options: { memory: boolean }): Promise<SnapshotFacts> {
    return this.#snapshotCalls.run(id, () => this.#snapshot(id, snapshot, options));
  }

  async #snapshot(id: string, snapshot: string, options: { memory: boolean }): Promise<SnapshotFacts> {
    const set = await this.#objects.set(id);
    if (!set) throw new BerthError("machine_lost", "The agent has no machine.");
    // Write ownership first: keepers do not decide it.
    await this.#keep(id, [...this.#keptBy(set).filter((each) => each.id !== snapshot), { id: snapshot, bytes: 0 }]);
    return this.#pods.borrow(id, () => this.#change(id, "snapshot", [id, snapshot, options]));
  }

  /** Copies the files of another machine's snapshot first. A machine without a pod gets one for that time. */
  async restore(spec: MachineSpec): Promise<void> {
    const { id, snapshot } = spec;
    const owner = snapshot === null ? null : await this.#ownerOf(snapshot);
    if (snapshot === null || owner === null) throw snapshotDeleted();
    if (owner === id) {
      await this.#pods.ready(id);
      return this.#change(id, "restore", [spec]);
    }
    await this.#takeOver(spec, snapshot, owner);
    await this.#change(id, "restore", [spec]);
    // Its own files have all of it by now.
    await this.#change(id, "removeSnapshot", [snapshot]);
  }

  async #takeOver({ id, resources }: MachineSpec, snapshot: string, owner: string): Promise<void> {
    const pod = await this.#objects.pod(owner);
    if (pod && (await this.#pods.isOutOfReach(pod))) {
      throw new BerthError("machine_lost", "The snapshot is on a node of the cluster that is out of reach.");
    }
    await this.#objects.create(id, resources);
    await this.#pods.borrow(owner, async () => {
      await this.#pods.ready(id);
      const [from, to] = [await this.#pods.address(owner), await this.#pods.address(id)];
      const maximumBytes = volumeMiBOf(resources) * 1024 ** 2;
      await this.#pods.pass({ kind: "snapshots", name: snapshot }, { from, to, maximumBytes });
    });
  }

  async removeSnapshot(snapshot: string): Promise<void> {
    const id = await this.#ownerOf(snapshot);
    if (id === null) return;
    await this.#snapshotCalls.run(id, () =>
      this.#pods.borrow(id, () => this.#change(id, "removeSnapshot", [snapshot])),
    );
  }

  async #ownerOf(snapshot: string): Promise<string | null> {
    const set = await this.#setOf(snapshot);
    return set && this.#objects.idOf(set);
  }

  async #setOf(snapshot: string): Promise<V1StatefulSet | null> {
    return (await this.#objects.sets()).find((set) => this.#keptBy(set).some(({ id }) => id === snapshot)) ?? null;
  }

  async snapshots(): Promise<KeptSnapshot[]> {
    const sets = (await this.#objects.sets()).filter((set) => !isQuarantined(set));
    return sets.flatMap((set) => this.#keptBy(set));
  }

  async stage(): Promise<void> {
    throw new BerthError(
      "archive_unsupported",
      "Machines on Kubernetes are not in the service's backup; back up their volumes with the cluster's own means.",
    );
  }

  /** The machine's keeper packs the disk and sends it to this server. */
  async packDisk(snapshot: string, signal?: AbortSignal): Promise<string> {
    const set = await this.#setOf(snapshot);
    if (!set) throw snapshotDeleted();
    await this.#disks.requireSpace();
    const id = this.#objects.idOf(set);
    return this.#pods.borrow(id, async () => {
      const from = await this.#pods.address(id);
      await this.#pods.askAt(from, "packDisk", [snapshot], signal ? { signal } : {});
      const maximumBytes = volumeBytesOf(set);
      return this.#pods.read({ kind: "disks", name: snapshot }, { from, maximumBytes, signal }, (files) =>
        this.#disks.receive(snapshot, files, maximumBytes),
      );
    });
  }

  async stop(id: string): Promise<void> {
    const set = await this.#objects.set(id);
    if (!set) return;
    const observed = observedOf(set);
    const mayHaveMemory = observed === "unreadable" || observed?.phase === "suspended";
    // A memory that the end of the run removes is still in the volume.
    if (set.spec?.replicas === 1 || mayHaveMemory) {
      await this.#pods.ready(id);
      await this.#change(id, "stop", [id]);
    }
    await this.#pods.rest(id);
  }

  async endHung(id: string): Promise<void> {
    await this.#change(id, "endHung", [id]);
  }

  async destroy(id: string): Promise<void> {
    this.#clones.delete(id);
    await this.#pods.remove(id);
  }

  /** The volume stays unchanged. */
  async quarantine(id: string): Promise<void> {
    const set = await this.#objects.set(id);
    if (!set || isQuarantined(set)) return;
    if (set.spec?.replicas === 1) {
      const lost = ({ message }: Error) =>
        this.#log(`moving machine ${id} to the quarantine without its memory: ${message}`);
      await this.suspend(id).catch(lost);
    }
    await this.#pods.rest(id);
    await this.#objects.annotate(id, { [quarantinedAnnotation]: new Date().toISOString() });
  }

  /** A snapshot stays in the volume of its machine, and is removed with it. */
  async quarantineSnapshot(): Promise<void> {}

  async quarantined(): Promise<Quarantined[]> {
    const sets = (await this.#objects.sets()).filter(isQuarantined);
    return sets.map((set) => ({
      id: this.#objects.idOf(set),
      kind: "machine",
      quarantinedAt: set.metadata!.annotations![quarantinedAnnotation]!,
      agent: null,
      runtime: null,
      bytes: volumeBytesOf(set),
    }));
  }

  async quarantinedMachine(): Promise<never> {
    const message = "A machine on Kubernetes cannot be given back to an account: copy the files out of its volume.";
    throw new BerthError("not_supported_here", message);
  }

  async releaseQuarantined(): Promise<never> {
    return this.quarantinedMachine();
  }

  async removeQuarantined(id: string): Promise<void> {
    const set = await this.#objects.set(id);
    if (set && isQuarantined(set)) await this.destroy(id);
  }

  async observe(id: string): Promise<MachineObservation> {
    const set = await this.#objects.set(id).catch((error: unknown) => {
      // While the API server is unavailable, the keeper knows the state of a running machine.
      if (this.#pods.knows(id)) return "unknown" as const;
      throw error;
    });
    if (set === "unknown") return this.#pods.ask(id, "observe", [id]);
    return set ? this.#observations.of(set) : { ...nothingOf(id), phase: "absent" };
  }

  async list(): Promise<MachineObservation[]> {
    const sets = (await this.#objects.sets()).filter((set) => !isQuarantined(set));
    return inParallel(sets, looksAtOnce, (set) => this.#observations.of(set));
  }

  /** Not in the volume, which cannot be read without a pod. */
  keepLog(id: string, log: string): Promise<void> {
    return this.#objects.keepLog(id, log);
  }

  async keptLog(id: string): Promise<string> {
    return (await this.#objects.log(id)) ?? "";
  }

  handshake(id: string): Promise<Handshake> {
    return this.#pods.ask(id, "handshake", [id]);
  }

  async dial(id: string): Promise<Socket> {
    return dialGuest(await this.#pods.address(id), id);
  }

  /** Also resolves when its pod or container has ended or was replaced, or its node is out of reach. */
  async ended(id: string): Promise<void> {
    const before = await this.#objects.pod(id).catch(() => undefined);
    const run = before === undefined ? this.#pods.lastRun(id) : runOf(before);
    while (!this.#pods.closed.aborted) {
      try {
        return await this.#pods.ask(id, "ended", [id], { signal: this.#pods.closed });
      } catch {
        if (this.#pods.closed.aborted) break;
        const now = await this.#objects.pod(id).catch(() => undefined);
        // Machines that the API server does not report may still run.
        if (now !== undefined && (runOf(now) !== run || (await this.#pods.isLost(now)))) return;
        await this.#pods.pause().catch(() => {});
      }
    }
    await new Promise(() => {});
  }

  async close(): Promise<void> {
    this.#pods.close();
    this.#templates.close();
  }

  /** Requests a change, and stores the observation after it with the StatefulSet. */
  async #change<Call extends KeeperCall>(
    id: string,
    call: Call,
    sent: Sent<Call>,
    options: CallOptions = {},
  ): Promise<Outcome<Call>> {
    const address = await this.#pods.address(id);
    const result = await this.#pods.askAt(address, call, sent, options);
    const observed = await this.#pods.askAt(address, "observe", [id]);
    const snapshots = await this.#pods.askAt(address, "snapshots", []);
    const known = this.#keptBy(await this.#objects.annotate(id, { [observedAnnotation]: JSON.stringify(observed) }));
    const kept = snapshots.filter((each) => known.some((other) => other.id === each.id));
    if (!isDeepStrictEqual(kept, known)) await this.#keep(id, kept);
    return result;
  }

  async #keep(id: string, snapshots: readonly KeptSnapshot[]): Promise<void> {
    await this.#objects.annotate(id, { [snapshotsAnnotation]: JSON.stringify(snapshots) });
  }

  #keptBy(set: V1StatefulSet): KeptSnapshot[] {
    const kept = snapshotsOf(set);
    if (!kept) this.#log(`the snapshots of machine ${this.#objects.idOf(set)} cannot be read: ${snapshotsAnnotation}`);
    return kept ?? [];
  }
}
