import { z } from "zod";
import { installSteps } from "../contract/agents.ts";
import type { ErrorCode } from "../contract/errors.ts";
import { maximumSnapshots } from "../contract/snapshots.ts";
import { parseValue } from "../contract/validation.ts";
import type { KeeperCall, Outcome } from "./keeper-calls.ts";

// A keeper is in the pod of a machine whose agent may have broken out of QEMU, so its responses are validated like a
// stranger's.

/** In bytes. */
const maximumLine = 256 * 1024;
/** Burst limit on steps and empty lines; beyond it, one a second. */
const linesAtOnce = 100;

const short = z.string().max(1_000);
const count = z.int().min(0);
const nothing = z.unknown().transform(() => undefined);

export const Observation = z.object({
  id: short,
  generation: count,
  restarts: count,
  restores: count,
  phase: z.enum(["absent", "stopped", "suspended", "running"]),
  image: short.nullable(),
  // Keepers and notes of earlier versions omit it: the machine counts as used.
  isUnused: z.boolean().default(false),
});
export const KeptSnapshots = z.array(z.object({ id: short, bytes: count })).max(2 * maximumSnapshots);
const running = z.object({
  id: short,
  origin: z.enum(["clone", "boot", "wake"]),
  tokens: z.array(short).max(10),
  unadopted: z.boolean(),
});

const results = {
  prepare: short,
  templateKind: z.string().regex(/^[0-9a-f]{16}$/),
  observe: Observation,
  create: running,
  boot: running,
  wake: running.nullable(),
  attach: running,
  invalidate: nothing,
  adopting: nothing,
  adopted: nothing,
  token: short,
  suspend: nothing,
  snapshot: z.object({ bytes: count, hasMemory: z.boolean() }),
  restore: nothing,
  removeSnapshot: nothing,
  snapshots: KeptSnapshots,
  packDisk: nothing,
  stop: nothing,
  endHung: nothing,
  handshake: z.enum(["proof", "token"]),
  ended: nothing,
} satisfies { [Call in KeeperCall]: z.ZodType<Outcome<Call> | undefined> };

/** Error codes of a machine's driver. Other codes belong to the service, and have a meaning to its clients. */
const codes = [
  "accelerator_unavailable",
  "agent_elsewhere",
  "body_too_large",
  "disk_full",
  "forbidden",
  "image_invalid",
  "image_missing",
  "machine_disk_full",
  "machine_failed",
  "machine_lost",
  "no_capacity",
  "path_not_found",
  "privilege_missing",
  "qemu_missing",
  "snapshot_not_found",
  "template_failed",
] as const satisfies ErrorCode[];

export const Refusal = z.object({ code: z.enum(codes).catch("machine_failed"), message: z.string().max(5_000) });

const step = z.enum(installSteps);

/** See `KeeperLine`. */
export const AnswerLine = z.union([
  z.object({ plan: z.array(step).max(installSteps.length) }),
  z.object({ begin: step }),
  z.object({ error: Refusal }),
  z.object({ result: z.unknown() }),
]);

/** A call's reported result. Throws if it is invalid or of another machine. */
export function resultOf<Call extends KeeperCall>(call: Call, sent: readonly unknown[], told: unknown): Outcome<Call> {
  const result: unknown = parseValue(results[call], told);
  const [subject] = sent;
  const id = subject instanceof Object && "id" in subject ? subject.id : subject;
  if (result instanceof Object && "id" in result && result.id !== id) throw new Error("it is another machine's");
  return result as Outcome<Call>;
}

/** Throws if a line is too long, or if there are too many lines. */
export async function* linesOf(answer: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const began = performance.now();
  let parts: Buffer[] = [];
  let size = 0;
  let lines = 0;
  for await (const chunk of answer) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      if (++lines > linesAtOnce + (performance.now() - began) / 1000) throw new Error("it says too much");
      yield Buffer.concat([...parts, chunk.subarray(start, end)]).toString();
      parts = [];
      size = 0;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maximumLine) throw new Error("it says too much in one line");
  }
}
