import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VmMachines } from "../support/vm-machines.ts";

/** One machine goes through all of this: what a test leaves in it, the next ones find. */
const id = crypto.randomUUID();
let vm: VmMachines;
/** What is called between two steps. */
let step = async (_name: string): Promise<void> => {};

beforeAll(async () => {
  vm = await VmMachines.start("claude-code", { step: (name) => step(name) });
  await vm.ensure(id);
});
afterAll(() => vm[Symbol.asyncDispose]());

/** Has the machine's disk, its memory and a program hold this. */
async function hold(text: string, machine = id): Promise<void> {
  await vm.exec(machine, `echo ${text} > ~/note; echo ${text} > /dev/shm/note; pkill -f sleeper; sync`);
  await vm.exec(machine, `(exec -a sleeper-${text} sleep 100000 >/dev/null 2>&1 &)`);
}

async function held(machine = id): Promise<string[]> {
  const program = "ps -eo args | sed -n 's/^sleeper-\\([a-z0-9]*\\) .*/\\1/p'";
  return (await vm.output(machine, `cat ~/note; cat /dev/shm/note 2>/dev/null || echo none; ${program}`)).split("\n");
}

let restores = 0;
let generation = 1;

async function rollBack(snapshot: string): Promise<void> {
  await vm.ensure(id, { restores: ++restores, snapshot, generation: ++generation });
}

test("files, memory and programs are as they were, again and again, and the machine goes on meanwhile", async () => {
  await hold("one");
  const one = crypto.randomUUID();
  const begun = performance.now();
  const { hasMemory, bytes } = await vm.machines.snapshot(id, one, { memory: true });
  console.log(`snapshot ${Math.round(performance.now() - begun)} ms, ${Math.round(bytes / 2 ** 20)} MiB`);
  expect(hasMemory).toBe(true);
  expect(await held()).toEqual(["one", "one", "one"]);
  await hold("two");
  const two = crypto.randomUUID();
  await vm.machines.snapshot(id, two, { memory: true });
  await hold("three");
  const at = performance.now();
  await rollBack(one);
  console.log(`rollback ${Math.round(performance.now() - at)} ms`);
  expect(await held()).toEqual(["one", "one", "one"]);
  await rollBack(two);
  expect(await held()).toEqual(["two", "two", "two"]);
  await rollBack(one);
  expect(await held()).toEqual(["one", "one", "one"]);
  expect(await vm.chat(id, "Say hello.")).not.toBe("");
});
