import type { V1StatefulSet } from "@kubernetes/client-node";
import type { z } from "zod";
import type { KeptSnapshot, MachineObservation } from "../machines/driver.ts";
import { KeptSnapshots, Observation } from "./keeper-answers.ts";
import { observedAnnotation, quarantinedAnnotation, snapshotsAnnotation } from "./objects.ts";

// Notes stored with a machine's StatefulSet, for the time without a pod. They may have been edited badly.

/** Null: no report. `unreadable`: invalid. */
export function observedOf({ metadata }: V1StatefulSet): MachineObservation | null | "unreadable" {
  const text = metadata?.annotations?.[observedAnnotation];
  return text === undefined ? null : (noted(text, Observation) ?? "unreadable");
}

/** Whether the last report says that no agent has used the machine. */
export function isKnownUnused(set: V1StatefulSet): boolean {
  const last = observedOf(set);
  return last !== null && last !== "unreadable" && last.isUnused;
}

/** Null: unknown. */
export function snapshotsOf({ metadata }: V1StatefulSet): KeptSnapshot[] | null {
  return noted(metadata?.annotations?.[snapshotsAnnotation] ?? "[]", KeptSnapshots);
}

function noted<Schema extends z.ZodType>(text: string, schema: Schema): z.output<Schema> | null {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Whether the machine has no row; see `Driver.quarantine`. */
export function isQuarantined({ metadata }: V1StatefulSet): boolean {
  return metadata?.annotations?.[quarantinedAnnotation] !== undefined;
}
