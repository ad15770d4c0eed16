import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VmMachines } from "../support/vm-machines.ts";

/** One machine goes through all of this: what a test leaves in it, the next ones find. */
const id = crypto.randomUUID();
let vm: VmMachines;
/** Called between two steps. */
let step = async (_name: string): Promise<void> => {};

beforeAll(async () => {
  vm = await VmMachines.start("claude-code", { step: (name) => step(name) });
  await vm.ensure(id);
});
afterAll(() => vm[Symbol.asyncDispose]());

/** Has the machine's disk, its memory and a program hold this. */
async function hold(text: string, machine: string = id): Promise<void> {
  await vm.exec(machine, `echo ${text} > ~/note; echo ${text} > /dev/shm/note; pkill -f sleeper; sync`);
  await vm.exec(machine, `(exec -a sleeper-${text} sleep 100000 >/dev/null 2>&1 &)`);
}

async function held(machine: string = id): Promise<string[]> {
  const program = "ps -eo args | sed -n 's/^sleeper-\\([a-z0-9]*\\) .*/\\1/p'";
  return (await vm.output(machine, `cat ~/note; cat /dev/shm/note 2>/dev/null || echo none; ${program}`)).split("\n");
}

let restores = 0;
let generation = 1;

async function rollBack(snapshot: string): Promise<void> {
  await vm.ensure(id, { restores: ++restores, snapshot, generation: ++generation });
}

async function take(options = { memory: true }, snapshot: string = crypto.randomUUID()): Promise<string> {
  await vm.machines.snapshot(id, snapshot, options);
  return snapshot;
}

async function fork(snapshot: string): Promise<string> {
  const machine = crypto.randomUUID();
  await vm.ensure(machine, { restores: 1, snapshot, hostname: "fork" });
  return machine;
}

/** The seconds between the machine's wall clock and this machine's. */
async function clockError(machine: string = id): Promise<number> {
  return Math.abs(Number(await vm.output(machine, "date +%s.%N")) - Date.now() / 1000);
}

/** The names in a folder of the data folder. */
const namesIn = (...folders: string[]) => readdir(join(vm.dataFolder, ...folders));

async function layersAfterSweep(): Promise<string[]> {
  await (await vm.machines.driver()).sweep();
  return namesIn("layers");
}

test("files, memory and programs are restored each time, and the machine keeps running", async () => {
  await hold("one");
  const one = await take();
  expect(await held()).toEqual(["one", "one", "one"]);
  await sleep(4_000); // Longer than the error of a clock that is checked below.
  await hold("two");
  const two = await take();
  await hold("three");
  for (const [snapshot, text] of [
    [one, "one"],
    [two, "two"],
    [one, "one"],
  ] as const) {
    await rollBack(snapshot);
    expect(await held()).toEqual([text, text, text]);
    expect(await clockError()).toBeLessThan(2);
  }
  expect(await vm.chat(id, "Say hello.")).not.toBe("");
  await vm.suspend(id);
  await vm.ensure(id, { restores, generation });
  expect(await held()).toEqual(["one", "one", "one"]);
});

test("without memory, and where it is damaged, the machine boots from the disk of then", async () => {
  await hold("disk");
  const without = await take({ memory: false });
  await hold("later");
  await rollBack(without);
  expect(await held()).toEqual(["disk", "none"]);
});

test("a machine that sleeps is kept with the memory that it has, and wakes with it all the same", async () => {
  await hold("asleep");
  await vm.suspend(id);
  const asleep = await take();
  await vm.ensure(id, { restores, generation });
  expect(await held()).toEqual(["asleep", "asleep", "asleep"]);
  await hold("awake");
  await rollBack(asleep);
  expect(await held()).toEqual(["asleep", "asleep", "asleep"]);
});

/** Values that no two machines may share and that a machine makes up itself. */
async function identityOf(machine: string): Promise<Record<string, string>> {
  const guest = await vm.machines.guest(machine);
  const { hostKey } = await guest.sshHostKey({});
  const [machineId = "", bootId = "", hostname = "", random = "", uuid = ""] = (
    await vm.output(
      machine,
      "cat /etc/machine-id /proc/sys/kernel/random/boot_id; hostname; head -c 16 /dev/urandom | base64; cat /proc/sys/kernel/random/uuid",
    )
  ).split("\n");
  const { token } = await vm.record(machine);
  return { machineId, bootId, hostname, random, uuid, hostKey, token };
}

test("forks have all of it and share no id, key, token or random byte with each other or their source", async () => {
  await hold("shared");
  const source = await identityOf(id);
  const snapshot = await take();
  await vm.suspend(id); // Room for the others.
  const one = await fork(snapshot);
  const identities = [source, await identityOf(one)];
  expect(await held(one)).toEqual(["shared", "shared", "shared"]);
  expect(await clockError(one)).toBeLessThan(2);
  expect(await vm.chat(one, "Say hello.")).not.toBe("");
  await vm.suspend(one);
  const other = await fork(snapshot);
  identities.push(await identityOf(other));
  for (const name of ["machineId", "bootId", "random", "uuid", "hostKey", "token"]) {
    expect(new Set(identities.map((identity) => identity[name])).size).toBe(3);
  }
  expect(identities.map(({ hostname }) => hostname)).toEqual(["ada", "fork", "fork"]);
  // A fork is a machine like any other: it boots, and outlives what it was made from.
  await vm.machines.removeSnapshot(snapshot);
  await vm.ensure(other, { restores: 1, restarts: 1, hostname: "fork", generation: 2 });
  expect(await held(other)).toEqual(["shared", "none"]);
  expect((await identityOf(other)).hostKey).toBe(identities[2]!.hostKey);
  for (const machine of [one, other]) await vm.machines.destroy(machine);
  await vm.ensure(id, { restores, generation });
});

test("the layers below a disk stay few, whatever was kept is still there, and what nobody needs goes", async () => {
  for (const snapshot of await namesIn("snapshots")) await vm.machines.removeSnapshot(snapshot);
  const taken: { snapshot: string; text: string }[] = [];
  for (let count = 0; count < 20; count++) {
    await vm.exec(id, `echo ${count} > ~/note; head -c 100000 /dev/urandom > ~/file-${count}; sync`);
    taken.push({ snapshot: await take(), text: String(count) });
    expect((await vm.record(id)).layers.length).toBeLessThanOrEqual(16);
  }
  for (const at of [0, 15, 16, 19]) {
    await rollBack(taken[at]!.snapshot);
    expect(await vm.output(id, "cat ~/note; ls ~ | grep -c file-")).toBe(`${taken[at]!.text}\n${at + 1}`);
  }
  // Equal data becomes one layer, also below a machine that runs. A server that stops between the two steps of joining
  // leaves a disk that reads the same, and the next sweep continues.
  const kept = taken.splice(17, 1);
  let cuts = 1;
  step = async (name) => {
    if (name === "layers joined" && cuts-- > 0) throw new Error("cut off");
  };
  for (const { snapshot } of taken) await vm.machines.removeSnapshot(snapshot);
  await expect.poll(layersAfterSweep).toHaveLength(2);
  expect(await vm.output(id, "cat ~/note; ls ~ | grep -c file-; cat ~/file-* | wc -c")).toBe("19\n20\n2000000");
  expect([cuts < 1, vm.log.some((line) => line.includes("cut off"))]).toEqual([true, true]);
  step = async () => {};
  await vm.ensure(id, { restores, restarts: 1, generation: ++generation });
  expect(await vm.output(id, "cat ~/note; ls ~ | grep -c file-; cat ~/file-* | wc -c")).toBe("19\n20\n2000000");
  await rollBack(kept[0]!.snapshot);
  expect(await vm.output(id, "cat ~/note; ls ~ | grep -c file-; cat ~/file-* | wc -c")).toBe("17\n18\n1800000");
  await vm.machines.removeSnapshot(kept[0]!.snapshot);
  await expect.poll(layersAfterSweep).toHaveLength(1);
  const { layers, disk } = await vm.record(id);
  expect((await namesIn("layers")).toSorted()).toEqual([...layers].toSorted());
  expect((await namesIn("machines", id, "disks")).map((name) => `disks/${name}`)).toEqual([disk]);
  expect(await vm.output(id, "cat ~/note")).toBe("17");
});

test("a snapshot's memory is compressed once nobody waits, and restored all the same", async () => {
  await hold("pressed");
  const snapshot = await take();
  const bytes = async () => (await vm.machines.snapshots()).find((each) => each.id === snapshot)!.bytes;
  const before = await bytes();
  await expect.poll(async () => (await bytes()) < before / 2).toBe(true);
  const [memory] = (await namesIn("snapshots", snapshot)).filter((name) => name.startsWith("memory-"));
  expect((await namesIn("snapshots", snapshot, memory!)).toSorted()).toEqual(["pages.zst", "state"]);
  await hold("later");
  await rollBack(snapshot);
  expect(await held()).toEqual(["pressed", "pressed", "pressed"]);
  await vm.machines.removeSnapshot(snapshot);
});

test("a server that ends between any two steps leaves the machine as it was or as it was to be, and nothing half made", async () => {
  await hold("kept");
  const kept = await take();
  await hold("now");
  const never = new Promise<void>(() => {});
  const steps = [
    "disk prepared",
    "paused",
    "disk laid",
    "disk recorded",
    "pages saved",
    "devices saved",
    "disk frozen",
    "kept",
  ];
  for (const at of steps) {
    const reached = Promise.withResolvers<void>();
    step = async (name) => {
      if (name !== at) return;
      reached.resolve();
      await never;
    };
    const snapshot = crypto.randomUUID();
    vm.machines.snapshot(id, snapshot, { memory: true }).catch(() => {});
    await reached.promise;
    step = async () => {};
    await vm.close();
    await vm.open({ step: (name) => step(name) });
    await vm.ensure(id, { restores, generation });
    expect(await held()).toEqual(["now", "now", "now"]);
    const found = await vm.machines.snapshots();
    expect(found.some((each) => each.id === snapshot)).toBe(at === "kept");
    expect((await namesIn("snapshots")).every((name) => !name.endsWith(".partial"))).toBe(true);
  }
  await vm.suspend(id);
  await vm.ensure(id, { restores, generation });
  expect(await held()).toEqual(["now", "now", "now"]);
  for (const at of ["disk laid", "memory laid", "restored", "started", "pages loaded", "state loaded"]) {
    const reached = Promise.withResolvers<void>();
    step = async (name) => {
      if (name !== at) return;
      reached.resolve();
      await never;
    };
    const spec = { restores: ++restores, snapshot: kept, generation: ++generation };
    vm.ensure(id, spec).catch(() => {});
    await reached.promise;
    step = async () => {};
    await vm.close();
    await vm.open({ step: (name) => step(name) });
    const { disk } = await vm.record(id);
    expect((await namesIn("machines", id, "disks")).map((name) => `disks/${name}`)).toEqual([disk]);
    await vm.ensure(id, spec);
    expect(await held()).toEqual(["kept", "kept", "kept"]);
    await sleep(200);
  }
});

test("a quarantined machine comes back with its memory, and a sweep leaves the layers that it needs", async () => {
  await hold("kept");
  const snapshot = await take();
  // A repeated call takes the place of one whose answer was lost.
  expect(await take({ memory: true }, snapshot)).toBe(snapshot);
  await vm.machines.quarantine(id);
  await vm.machines.quarantineSnapshot(snapshot);
  expect(await namesIn("machines")).not.toContain(id);
  expect((await vm.machines.quarantined()).map(({ kind, agent }) => ({ kind, agent }))).toEqual([
    { kind: "machine", agent: "ada" },
    { kind: "snapshot", agent: null },
  ]);
  await layersAfterSweep();
  const facts = await vm.machines.quarantinedMachine(id);
  for (const each of [id, snapshot]) await vm.machines.releaseQuarantined(each);
  await vm.ensure(id, { restores, restarts: facts.restarts, generation: ++generation });
  expect(await held()).toEqual(["kept", "kept", "kept"]);
  await hold("later");
  await rollBack(snapshot);
  expect(await held()).toEqual(["kept", "kept", "kept"]);
  await vm.machines.quarantine(id);
  await vm.machines.removeQuarantined(id);
  expect(await vm.machines.quarantined()).toEqual([]);
});
