import type { V1Pod, V1StatefulSet } from "@kubernetes/client-node";
import type { MachineObservation } from "../machines/driver.ts";
import type { MachineObjects } from "./cluster.ts";
import { observedOf } from "./notes.ts";
import { observedAnnotation } from "./objects.ts";
import { runOf } from "./pod-state.ts";
import type { Pods } from "./pods.ts";

/** How long a keeper may fail to answer, while its pod counts as running, until its machine counts as lost. */
const lookMs = 15_000;

export class Observations {
  readonly #pods: Pods;
  readonly #objects: MachineObjects;
  readonly #log: (message: string) => void;

  constructor(pods: Pods, log: (message: string) => void) {
    this.#pods = pods;
    this.#objects = pods.objects;
    this.#log = log;
  }

  async of(set: V1StatefulSet): Promise<MachineObservation> {
    const id = this.#objects.idOf(set);
    const last = observedOf(set) ?? ({ ...nothingOf(id), phase: "absent" } as const);
    if (last === "unreadable" || last.id !== id) return this.#askAgain(id);
    // Ending a pod saves the memory if time allows. `wake` checks whether it was saved.
    const asleep = { ...last, phase: last.phase === "running" ? "suspended" : last.phase } as const;
    if (set.spec?.replicas !== 1) return asleep;
    for (const until = performance.now() + lookMs; ; await this.#pods.pause()) {
      const pod = await this.#objects.pod(id);
      // The pod will be recreated.
      if (pod === null) return asleep;
      const isEnding = pod.metadata?.deletionTimestamp !== undefined;
      const seen = isEnding || runOf(pod) === null ? null : await this.#observeAt(id, pod).catch(() => null);
      if (seen) return seen;
      if (await this.#pods.isOutOfReach(pod)) return { ...last, phase: "lost" };
      if (isEnding || runOf(pod) === null) return asleep;
      // The cluster's view of a pod is slightly delayed, so it may have ended.
      if (performance.now() > until) return { ...last, phase: "lost" };
    }
  }

  /** Starts the machine's pod for the keeper's report. Lost if the pod does not start. */
  async #askAgain(id: string): Promise<MachineObservation> {
    this.#log(`what was last seen of machine ${id} cannot be read: the annotation ${observedAnnotation}. It is asked`);
    try {
      return await this.#pods.borrow(id, async () => {
        const seen = await this.#pods.ask(id, "observe", [id]);
        await this.#objects.annotate(id, { [observedAnnotation]: JSON.stringify(seen) });
        return seen;
      });
    } catch (error) {
      this.#log(`machine ${id} does not say what it is: ${(error as Error).message}`);
      return { ...nothingOf(id), phase: "lost" };
    }
  }

  async #observeAt(id: string, pod: V1Pod): Promise<MachineObservation> {
    return this.#pods.askAt(await this.#pods.addressOf(id, pod), "observe", [id]);
  }
}

/** An observation of a machine without a record, except its phase. */
export function nothingOf(id: string) {
  return { id, generation: 0, restarts: 0, restores: 0, image: null, isUnused: false };
}
