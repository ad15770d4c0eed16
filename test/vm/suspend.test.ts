import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readdir, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isShortage } from "../../src/contract/errors.ts";
import { claimUser, releaseUser } from "../../src/machines/qemu/user-claims.ts";
import { startOn } from "../support/start-machine.ts";
import { VmMachines } from "../support/vm-machines.ts";

const run = promisify(execFile);

/** One machine goes through all of this: what a test leaves in it, the next ones find. */
const id = crypto.randomUUID();
let vm: VmMachines;
/** Called between two steps. */
let step = async (_name: string): Promise<void> => {};

beforeAll(async () => {
  vm = await VmMachines.start("claude-code", { step: (name) => step(name) });
  await vm.ensure(id);
  await vm.exec(
    id,
    "echo kept > ~/note; echo kept > /dev/shm/note; (sleep 100000 >/dev/null 2>&1 & echo $! > ~/pid); sync",
  );
});
afterAll(() => vm[Symbol.asyncDispose]());

/** The machine's state: `memory` is lost when it boots from its disk. */
async function remembered(): Promise<{ disk: string; memory: string; sleeper: string }> {
  const command = "cat ~/note; echo -; cat /dev/shm/note 2>/dev/null; echo -; ps -o comm= -p $(cat ~/pid)";
  const [disk = "", memory = "", sleeper = ""] = (await vm.output(id, command)).split("-").map((part) => part.trim());
  return { disk, memory, sleeper };
}

const all = { disk: "kept", memory: "kept", sleeper: "sleep" };

/** Boots leave nothing in memory: it is put there again. */
async function rememberAgain(): Promise<void> {
  await vm.exec(id, "echo kept > /dev/shm/note; (sleep 100000 >/dev/null 2>&1 & echo $! > ~/pid); sync");
}

/** The folders of memory images. */
async function images(): Promise<string[]> {
  return (await readdir(vm.file(id))).filter((name) => name.startsWith("memory-"));
}

/** The machine's desired state. */
let desired = { generation: 1, restarts: 0 };

/** Suspends, and waits until the memory image has the desired form. */
async function suspended({ compressed }: { compressed: boolean }): Promise<void> {
  step = async (name) => {
    if (name === "compressed" && !compressed) throw new Error("it is to stay as it is");
  };
  await vm.suspend(id);
  while (compressed && (await readdir(await imageFile(""))).includes("pages")) await sleep(50);
}

test("a suspended machine has no process; woken, it has its files, programs, memory and clock", async () => {
  const [pid] = await vm.processes();
  const random = await vm.output(id, "head -c 16 /dev/urandom | base64");
  const names = "cat /etc/machine-id /proc/sys/kernel/random/boot_id /etc/hosts; hostname";
  const known = await vm.output(id, names);
  const before = await vm.record(id);
  const ended = vm.machines.ended(id);
  await vm.suspend(id);
  await ended;
  expect(await vm.processes()).toEqual([]);
  expect(await vm.driver.observe(id)).toMatchObject({ phase: "suspended", generation: 1, restarts: 0 });
  expect((await vm.record(id)).memory).toMatchObject({ kind: "difference", base: before.template });
  await vm.suspend(id);
  expect((await stat(vm.file(id, "agent.log"))).mode & 0o777).toBe(0o600);
  expect(await vm.driver.keptLog(id)).toContain("\n");
  await sleep(5_000);
  desired = { ...desired, generation: 2 };
  await vm.ensure(id, desired);
  const after = await vm.record(id);
  expect(after).toMatchObject({ origin: "wake", memory: null, generation: 2, unadopted: false });
  expect(after.token).not.toBe(before.token);
  expect(await vm.processes()).not.toContain(pid);
  expect(await remembered()).toEqual(all);
  expect(await vm.output(id, names)).toBe(known);
  const behind = Date.now() / 1000 - Number(await vm.output(id, "date +%s.%N"));
  expect(Math.abs(behind)).toBeLessThan(4); // Five seconds would be those in which it did not run.
  expect(await vm.output(id, "head -c 16 /dev/urandom | base64")).not.toBe(random);
  // The runner's port, 7000: nothing is left of the connections before.
  const connections = await vm.exec(id, "ss -Htn state established '( sport = :7000 )' | wc -l", "root");
  expect(Number(connections.stdout)).toBeLessThanOrEqual(2);
});

test("a conversation continues across ten sleeps, with compressed memory or not", async () => {
  await vm.chat(id, "My cat is called Miez.");
  expect(await vm.chat(id, "What is she called?")).toContain("My cat is called Miez.");
  for (let cycle = 0; cycle < 10; cycle++) {
    await suspended({ compressed: cycle % 2 === 1 });
    await vm.ensure(id, desired);
    expect(await remembered()).toEqual(all);
    expect(await images()).toEqual([]);
  }
  const reply = await vm.chat(id, "And?");
  expect(reply).toContain("Your message 3 of this conversation");
  expect(reply).toContain("What is she called?");
});

test("a template that is not trusted any more still wakes those that sleep over it", async () => {
  await suspended({ compressed: false });
  const { template } = await vm.record(id);
  const other = crypto.randomUUID();
  for (let clones = 1; clones <= 2; clones++) {
    await vm.ensureGuest(other);
    expect((await vm.record(other)).template).toBe(template);
    await vm.driver.invalidate(other);
    expect((await vm.driver.observe(other)).phase).toBe("absent");
  }
  expect(vm.log.join("\n")).toContain(`the template ${template} is not usable`);
  await vm.close();
  await vm.open({ step: (name) => step(name) });
  await vm.ensureGuest(id, desired);
  expect(await vm.record(id)).toMatchObject({ origin: "wake" });
  expect(await remembered()).toEqual(all);
});

test("programs that an agent left running count as activity, as root too; the runtime at rest does not", async () => {
  for (const user of ["agent", "root"] as const) {
    const guest = await vm.machines.guest(id);
    expect(await guest.activity({})).toEqual({ busy: false });
    await vm.exec(id, "(sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $! > ~/busy)", user);
    expect(await guest.activity({})).toEqual({ busy: true });
    await vm.exec(id, "kill $(cat ~/busy)", user);
  }
});

test("a running machine is taken as it is when only its generation rises; a desired restart boots it", async () => {
  const pids = await vm.processes();
  await vm.ensure(id, { generation: 3 });
  expect(await vm.processes()).toEqual(pids);
  expect(await vm.record(id)).toMatchObject({ generation: 3, restarts: 0 });
  await expect(vm.ensure(id, { generation: 2 })).rejects.toMatchObject({ code: "machine_failed" });
  desired = { generation: 4, restarts: 1 };
  await vm.ensureGuest(id, desired);
  expect(await vm.processes()).not.toEqual(pids);
  expect(await vm.record(id)).toMatchObject({ ...desired, origin: "boot" });
  expect(await remembered()).toEqual({ disk: "kept", memory: "", sleeper: "" });
});

test("a machine that booted is suspended and woken too; a restart that is desired while it sleeps boots it", async () => {
  await rememberAgain();
  await suspended({ compressed: true });
  expect((await vm.record(id)).memory).toMatchObject({ kind: "whole" });
  await vm.ensureGuest(id, desired);
  expect(await vm.record(id)).toMatchObject({ origin: "wake" });
  expect(await remembered()).toEqual(all);
  await vm.suspend(id);
  desired = { generation: 5, restarts: 2 };
  await vm.ensureGuest(id, desired);
  expect(await vm.record(id)).toMatchObject({ ...desired, origin: "boot", memory: null });
  expect(await images()).toEqual([]);
  expect(await remembered()).toMatchObject({ disk: "kept", memory: "" });
});

test("given up in time, a suspend leaves a machine that runs, with its connections, and nothing of an image", async () => {
  await rememberAgain();
  for (const last of ["paused", "pages saved", "devices saved", "saved"]) {
    const given = new AbortController();
    step = async (name) => (name === last ? given.abort(new Error("not now")) : undefined);
    await expect(vm.suspend(id, given.signal)).rejects.toThrow("not now");
    step = async () => {};
    expect(await remembered()).toEqual(all);
    expect(await images()).toEqual([]);
    expect((await vm.record(id)).memory).toBe(null);
  }
});

const spoilt: { how: string; compressed?: boolean; spoil: () => Promise<void>; reason: string }[] = [
  { how: "corrupt in one byte", spoil: () => flipByte("pages"), reason: "corrupt" },
  { how: "compressed and corrupt", compressed: true, spoil: () => flipByte("pages.zst"), reason: "corrupt" },
  {
    how: "truncated",
    spoil: async () => truncate(await imageFile("pages"), 4096),
    reason: "does not have its recorded size",
  },
  { how: "with a corrupt device state", spoil: () => flipByte("state"), reason: "corrupt" },
  { how: "of another QEMU", spoil: () => savedBy("QEMU 6"), reason: "another qemu" },
];

test.each(spoilt)(
  "a memory $how is never restored: the machine boots from its disk, and the log says why",
  async (each) => {
    await vm.exec(id, "echo newest > ~/newest");
    await suspended({ compressed: each.compressed ?? false });
    await vm.close(); // So that nothing else works on the image.
    await each.spoil();
    vm.log.length = 0;
    await vm.open({ step: (name) => step(name) });
    await vm.ensureGuest(id, desired);
    expect(await vm.record(id)).toMatchObject({ origin: "boot", memory: null });
    expect(vm.log.join("\n")).toMatch(new RegExp(`cannot be restored, so it boots from its disk: .*${each.reason}`));
    expect(await vm.output(id, "cat ~/newest")).toBe("newest");
    expect(await images()).toEqual([]);
  },
);

async function savedBy(qemu: string): Promise<void> {
  await vm.changeRecord(id, ({ memory }) => {
    memory!.conditions.qemu = qemu;
  });
}

async function imageFile(name: string): Promise<string> {
  return vm.file(id, (await vm.record(id)).memory!.folder, name);
}

async function flipByte(name: string): Promise<void> {
  await using file = await open(await imageFile(name), "r+");
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, 50_000);
  await file.write(Buffer.from([buffer[0]! ^ 1]), 0, 1, 50_000);
}

/** A server that ends for good at a step of what it does. */
async function crashAt(last: string, action: () => Promise<void>): Promise<void> {
  const reached = Promise.withResolvers<void>();
  step = (name) => {
    if (name !== last) return Promise.resolve();
    reached.resolve();
    return new Promise(() => {});
  };
  const ended = action().then(() => Promise.race([reached.promise, sleep(30_000)]));
  await Promise.race([reached.promise, ended]);
  await vm.close();
  step = async () => {};
  await vm.open({ step: (name) => step(name) });
}

test("a server that is killed at any step of suspending, compressing or waking leaves one machine, with its memory", async () => {
  await rememberAgain();
  const suspending = ["paused", "pages saved", "devices saved", "saved", "recorded"];
  for (const name of [...suspending, "compressed", "compression recorded"]) {
    await crashAt(name, () => vm.suspend(id));
    const { phase } = await vm.driver.observe(id);
    expect([name, phase]).toEqual([name, suspending.slice(0, 4).includes(name) ? "running" : "suspended"]);
    await expectOne(name);
  }
  for (const name of ["started", "pages loaded", "state loaded", "used up", "woken"]) {
    await vm.suspend(id);
    await crashAt(name, () => vm.ensureGuest(id, desired));
    await expectOne(name);
  }
});

test("a QEMU that ends while its guest's pages are laid in is started again, with all that was in its memory", async () => {
  await vm.suspend(id);
  let kills = 1;
  step = async (name) => {
    if (name !== "started" || kills-- <= 0) return;
    for (const pid of await vm.processes()) process.kill(pid, "SIGKILL");
  };
  await expectOne("started");
  expect(await vm.record(id)).toMatchObject({ origin: "wake" });

  // The cause may pass: the memory is kept until its owner discards it.
  await vm.suspend(id);
  kills = 2;
  await expect(startOn(vm.driver, vm.spec(id, desired))).rejects.toMatchObject({ code: "machine_failed" });
  expect(kills).toBe(0);
  step = async () => {};
  expect((await vm.record(id)).memory).not.toBe(null);
  await vm.ensureGuest(id, desired);
  expect(await vm.record(id)).toMatchObject({ origin: "wake" });
  await rememberAgain();
});

test("a machine whose disk another process has locked keeps its memory, and wakes when the disk is free", async () => {
  await vm.suspend(id);
  // Opens the disk for writing, as a backup or a careless hand may, and holds it.
  const holder = spawn("qemu-io", ["-f", "qcow2", vm.file(id, "disk.qcow2"), "-c", "sleep 3600000"], {
    stdio: "ignore",
  });
  const ended = once(holder, "exit");
  try {
    const start = async () => startOn(vm.driver, vm.spec(id, desired)).then(() => null, isShortage);
    // Opening takes a moment. A lock-out passes, whoever asks.
    await expect.poll(() => holdsDisk(holder.pid!)).toBe(true);
    expect(await start()).toBe(true);
    expect((await vm.record(id)).memory).not.toBe(null);
  } finally {
    holder.kill("SIGKILL");
    await ended;
  }
  await expectOne("locked");
  expect(await vm.record(id)).toMatchObject({ origin: "wake" });
});

/** Whether the process holds a lock on a file: the kernel lists those of open file descriptions in its fdinfo. */
async function holdsDisk(pid: number): Promise<boolean> {
  const folder = `/proc/${pid}/fdinfo`;
  const infos = await Promise.all(
    (await readdir(folder)).map((fd) => readFile(join(folder, fd), "utf8").catch(() => "")),
  );
  return infos.some((info) => info.includes("lock:"));
}

test("a server that is stopped while a machine wakes leaves it, with its memory, to the next", async () => {
  for (const name of ["started", "pages loaded", "state loaded", "used up"]) {
    await vm.suspend(id);
    step = async (reached) => {
      if (reached === name) await vm.close();
    };
    await startOn(vm.driver, vm.spec(id, desired)).catch(() => {});
    step = async () => {};
    await vm.open({ step: (at) => step(at) });
    await expectOne(name);
  }
});

const usersLost: [string, (user: number) => Promise<void>][] = [
  [
    "of an earlier version, whose folder all machines' user owned,",
    async (user) => {
      onTestFinished(() => releaseUser(user, id));
      await run("chown", ["-R", "berth-vm:berth-vm", vm.file(id)]);
      await vm.changeRecord(id, (record) => Reflect.deleteProperty(record, "user"));
    },
  ],
  [
    "whose user another service's machine got after the host was booted",
    async (user) => {
      await releaseUser(user, id);
      expect(await claimUser(user, "another")).toBe(true);
      onTestFinished(() => releaseUser(user, "another"));
    },
  ],
];

test.runIf(process.getuid?.() === 0).each(usersLost)(
  "a machine %s gets a user of its own and wakes",
  async (_, lose) => {
    await vm.suspend(id);
    await vm.close();
    const before = (await vm.record(id)).user!.uid;
    await lose(before);
    await vm.open({ step: (name) => step(name) });
    await expectOne("adopted");
    const { user, origin } = await vm.record(id);
    expect(origin).toBe("wake");
    expect(user!.uid).not.toBe(before);
    const owners = ["", "disk.qcow2", "machine.json"].map(async (name) => (await stat(vm.file(id, name))).uid);
    expect(await Promise.all(owners)).toEqual([0, user!.uid, 0]);
  },
);

test.runIf(process.getuid?.() === 0)(
  "a machine whose disk cannot grow, since the host's is full, is paused, and resumes when there is space",
  async () => {
    const full = await VmMachines.start();
    const folder = join(full.dataFolder, "machines");
    await run("mount", ["-t", "tmpfs", "-o", "size=64m,mode=0711", "tmpfs", folder]);
    try {
      const large = crypto.randomUUID();
      await full.ensureGuest(large);
      const written = full.exec(large, "yes | head -c 200000000 > ~/large").catch(() => {}); // Ends with the server.
      await expect.poll(() => full.log.join("\n")).toContain(`machine ${large} is paused`);
      // Also for a server that was started in the meantime and was not informed.
      await Promise.all([full.close(), written]);
      await full.open();
      await sleep(3_000);
      expect(full.log.filter((line) => line.includes(`machine ${large} continues`))).toEqual([]);
      // Its guest does not answer, and it is no hung machine.
      expect(await full.machines.endHung(large).then(() => full.machines.isRunning(large))).toBe(true);
      await run("mount", ["-o", "remount,size=2g", folder]);
      await expect.poll(() => full.log.join("\n")).toContain(`machine ${large} continues`);
      const { stdout } = await run("sh", ["-c", "yes | head -c 200000000 | md5sum"]);
      const sum = "while pgrep -x head >/dev/null; do sleep 0.2; done; md5sum < ~/large";
      expect(await full.output(large, sum)).toBe(stdout.trim());
      // Their services share the host, and its user ids.
      expect((await full.record(large)).user).not.toEqual((await vm.record(id)).user);
    } finally {
      for (const { id: each } of await full.machines.list()) await full.machines.destroy(each);
      await run("umount", [folder]);
      await full[Symbol.asyncDispose]();
    }
  },
);

/** One process, with all that was in its memory. */
async function expectOne(crashedAt: string): Promise<void> {
  await vm.ensureGuest(id, desired);
  expect([crashedAt, await vm.processes()]).toEqual([crashedAt, [expect.any(Number)]]);
  expect([crashedAt, await remembered()]).toEqual([crashedAt, all]);
  expect((await vm.record(id)).memory).toBe(null);
  expect(await images()).toEqual([]);
}

test("where a machine's memory cannot be read from outside, QEMU writes it whole, and reads it again", async () => {
  await vm.close();
  await vm.open({ onlyWholeMemory: true });
  await vm.suspend(id);
  expect((await vm.record(id)).memory).toMatchObject({ kind: "stream" });
  await vm.ensureGuest(id, desired);
  expect(await vm.record(id)).toMatchObject({ origin: "wake" });
  expect(await remembered()).toEqual(all);
});
