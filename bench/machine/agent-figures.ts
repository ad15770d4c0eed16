import { readFile } from "node:fs/promises";
import { qemuProcesses } from "../../src/machines/qemu/process.ts";
import { eventsOf, type TestClient } from "../../test/support/client.ts";

/** Milliseconds from sending a message to the reply's first text. The reply is read to its end. Rejects if the turn fails. */
export async function firstDelta(client: TestClient, name: string, message: string): Promise<number> {
  const begun = performance.now();
  const response = await client.fetch("POST", `/agents/${name}/chat`, { message });
  let first = 0;
  for await (const { event } of eventsOf(response)) {
    if (event.type === "response.failed") throw new Error(event.error.message);
    if (event.type === "response.output_text.delta") first ||= performance.now() - begun;
  }
  return first;
}

/** Anonymous memory of all machines: what each has beyond the template's file, which they share. */
export async function ownMemoryMiB(): Promise<number> {
  let kib = 0;
  for (const pid of (await qemuProcesses()).values()) {
    kib += Number(/^Anonymous:\s*(\d+)/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, "utf8"))![1]);
  }
  return Math.round(kib / 1024);
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
