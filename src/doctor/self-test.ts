import { randomUUID } from "node:crypto";
import { freemem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { usualResources } from "../contract/agents.ts";
import type { MachineReport, MachineStep } from "../contract/machine-report.ts";
import { unlessAborted } from "../core/abort.ts";
import type { Machines } from "../machines/machines.ts";
import type { MachineSpec, StartFrom } from "../machines/spec.ts";

const cloneCount = 20;
const sleepCount = 3;
/** The pause between a suspension and a wake, to detect a clock that stood still. */
const asleepMs = 3_000;
const rateMs = 5_000;
/** The maximum error of a clock: a call of an emulated guest takes a while. */
const toleratedOffsetMs = 1_500;
/**
 * The maximum error of its rate against the host's. Emulation loses ticks when it is busy, and some guests have no
 * other clock.
 */
const toleratedRate = { ticks: 0.25, counter: 0.02 };
/**
 * The reserved memory of the host, in bytes. With less free memory, the oldest clone is removed before the next is
 * made.
 */
const leftFree = 2 * 1024 ** 3;
const commandTimeoutMs = 60_000;

/** Properties that must differ between two clones, by the command that prints them. */
const unique: Record<string, string> = {
  "machine id": "cat /etc/machine-id",
  "boot id": "cat /proc/sys/kernel/random/boot_id",
  "kernel's random bytes": "head -c 32 /dev/urandom | base64 -w0; echo",
  "kernel's UUID": "cat /proc/sys/kernel/random/uuid",
};
/** Written to memory before a suspension and read after it. */
const mark = "/dev/shm/machine-test";

type Found = Pick<MachineStep, "found" | "problem" | "ms">;

export interface SelfTestOptions {
  machines: Machines;
  runtime: string;
  memoryMiB: number;
  /** Called before each check. */
  doing: (what: string) => void;
  done: (step: MachineStep) => void;
  signal: AbortSignal;
}

/**
 * The lifecycle of a machine on this host: template, clones, turns, clocks, suspensions, a restart. It needs no
 * service. The caller removes the remaining machines.
 */
export class SelfTest {
  readonly #options: SelfTestOptions;
  guest: MachineReport["guest"] = null;

  constructor(options: SelfTestOptions) {
    this.#options = options;
  }

  /** Runs all checks; without a template or a first clone, no others. Rejects only when `signal` aborts. */
  async run(): Promise<void> {
    const { machines, runtime } = this.#options;
    const [a, b] = [this.#spec(), this.#spec()];
    const hasTemplate = await this.#check("template", "making the template, the longest step", async () => {
      const ms = await timed(async () => (await machines.driver()).prepare(runtime));
      return { found: `${runtime}, ready after ${seconds(ms)}`, ms: [ms] };
    });
    if (!hasTemplate || !(await this.#check("create", "creating a machine", () => this.#create(a)))) return;
    await this.#check("turns", "sending messages", () => this.#turns(a.id, 3));
    await this.#check("clock", "reading the clock", () => this.#clock(a.id));
    await this.#check("clock rate", "comparing clocks for five seconds", () => this.#clockRate(a.id));
    if (await this.#check("second clone", "creating another machine", () => this.#create(b))) {
      await this.#check("entropy", "comparing both", () => this.#entropy([a.id, b.id]));
      await machines.destroy(b.id);
    }
    await this.#check("suspend, wake", "suspending and waking", () => this.#sleeps(a));
    await this.#check("turn after", "sending a message", () => this.#turns(a.id, 1));
    await this.#check("restart", "booting the machine from its disk", () => this.#restart(a));
    await machines.destroy(a.id);
    await this.#check(`${cloneCount} clones`, `creating ${cloneCount} machines`, () => this.#clones());
  }

  /** Runs one check and reports it. Returns whether it passed. */
  async #check(name: string, doing: string, work: () => Promise<Found>): Promise<boolean> {
    const { signal, done } = this.#options;
    this.#options.doing(doing);
    const step = await unlessAborted(work(), signal).then(
      (found) => ({ name, ok: found.problem === undefined, ...found }),
      (error: unknown) => {
        signal.throwIfAborted();
        return { name, ok: false, found: "nothing", problem: wordsOf(error), ms: [] };
      },
    );
    done(step);
    return step.ok;
  }

  #spec(): MachineSpec {
    const { runtime, memoryMiB } = this.#options;
    const resources = usualResources(memoryMiB);
    return {
      id: randomUUID(),
      generation: 1,
      restarts: 0,
      restores: 0,
      snapshot: null,
      isImporting: false,
      acp: null,
      runtime,
      hostname: "machine-test",
      resources,
    };
  }

  #start(from: StartFrom, spec: MachineSpec): Promise<number> {
    const { machines, signal } = this.#options;
    return timed(() => machines.start(from, spec, { plan: () => {}, begin: () => {} }, signal));
  }

  async #create(spec: MachineSpec): Promise<Found> {
    const ms = await this.#start("nothing", spec);
    if (!this.guest) {
      const clocksource = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
      const [kernel = "", source = ""] = await this.#lines(spec.id, `uname -r; cat ${clocksource}`);
      this.guest = { kernel, clocksource: source };
    }
    return { found: `ready after ${milliseconds(ms)}`, ms: [ms] };
  }

  async #turns(id: string, count: number): Promise<Found> {
    const ms: number[] = [];
    for (let turn = 1; turn <= count; turn++) ms.push(await this.#firstText(id, `This is message ${turn}.`));
    return { found: `first text after ${ms.map(milliseconds).join(", ")}`, ms };
  }

  /** From a message to the first text of its reply, in milliseconds; waits for the turn's end. */
  async #firstText(id: string, message: string): Promise<number> {
    const guest = await this.#options.machines.guest(id);
    const begun = performance.now();
    let first: number | null = null;
    for await (const entries of guest.prompt({ turnId: randomUUID(), message, model: null, conversation: 1 })) {
      for (const { event } of entries) {
        if (event.type === "response.output_text.delta") first ??= performance.now() - begun;
        if (event.type === "response.failed") throw new Error(event.error.message);
      }
    }
    if (first === null) throw new Error("the reply was empty");
    return first;
  }

  async #clock(id: string): Promise<Found> {
    const offset = await this.#offset(id);
    return {
      found: `${milliseconds(offset)} off, clock source ${this.guest?.clocksource}`,
      ...(offset > toleratedOffsetMs && { problem: "The machine's clock is wrong." }),
      ms: [offset],
    };
  }

  /** How far the guest's clock is from the time at which it was read, in milliseconds. */
  async #offset(id: string): Promise<number> {
    const before = Date.now();
    const [line] = await this.#lines(id, "date +%s%3N");
    const time = Number(line);
    return Math.max(before - time, time - Date.now(), 0);
  }

  /** Compares the guest's clock with the host's: shows a wrong rate of the time stamp counter. */
  async #clockRate(id: string): Promise<Found> {
    const read = async () => Number((await this.#lines(id, "cut -d ' ' -f 1 /proc/uptime"))[0]) * 1000;
    await read(); // The first call of a kind is the slowest.
    const [hostBefore, guestBefore] = [performance.now(), await read()];
    await sleep(rateMs);
    const [hostAfter, guestAfter] = [performance.now(), await read()];
    const rate = (guestAfter - guestBefore) / (hostAfter - hostBefore);
    const counts = this.guest?.clocksource.endsWith("jiffies") ? "ticks" : "counter";
    const isOff = Math.abs(rate - 1) > toleratedRate[counts];
    return {
      found: `${rate.toFixed(3)} of the host's`,
      ...(isOff && { problem: "The machine's clock has a different rate than the host's." }),
      ms: [],
    };
  }

  async #entropy(ids: readonly string[]): Promise<Found> {
    const commands = { ...unique, "Node's UUID": "node -p 'crypto.randomUUID()'" };
    const answers = await Promise.all(ids.map((id) => this.#lines(id, Object.values(commands).join("; "))));
    return { ...compared(Object.keys(commands), answers), ms: [] };
  }

  async #sleeps(spec: MachineSpec): Promise<Found> {
    const { machines } = this.#options;
    const secret = randomUUID();
    // A program that counts shows that processes resume.
    await this.#lines(spec.id, `echo ${secret} >${mark}; (while sleep 0.2; do date >${mark}.alive; done) >&- 2>&- &`);
    const suspends: number[] = [];
    const wakes: number[] = [];
    const problems: string[] = [];
    for (let round = 0; round < sleepCount; round++) {
      suspends.push(await timed(() => machines.suspend(spec.id)));
      await sleep(asleepMs);
      wakes.push(await this.#start("memory", spec));
      const offset = await this.#offset(spec.id);
      if (offset > toleratedOffsetMs) problems.push(`After a wake the clock was ${milliseconds(offset)} off.`);
      const alive = `rm -f ${mark}.alive; sleep 1; cat ${mark}; test -e ${mark}.alive && echo alive`;
      const [kept, isAlive] = await this.#lines(spec.id, alive);
      if (kept !== secret) problems.push("The machine woke without its memory.");
      else if (isAlive !== "alive") problems.push("A program did not resume after a wake.");
    }
    const found = `suspended in ${suspends.map(milliseconds).join(", ")}; awake after ${wakes.map(milliseconds).join(", ")}`;
    return { found, ...(problems.length > 0 && { problem: problems.join(" ") }), ms: [...suspends, ...wakes] };
  }

  async #restart(spec: MachineSpec): Promise<Found> {
    await this.#lines(spec.id, "echo kept >~/machine-test");
    const ms = await this.#start("disk", { ...spec, restarts: 1 });
    const [kept] = await this.#lines(spec.id, "cat ~/machine-test");
    return {
      found: `ready after ${seconds(ms)}`,
      ...(kept !== "kept" && { problem: "The machine lost files on its disk." }),
      ms: [ms],
    };
  }

  /** Many clones, one after the other. As many run at once as the host's memory allows. */
  async #clones(): Promise<Found> {
    const { machines, signal } = this.#options;
    const running: string[] = [];
    const answers: string[][] = [];
    const ms: number[] = [];
    let most = 0;
    for (let count = 1; count <= cloneCount; count++) {
      signal.throwIfAborted();
      if (freemem() < leftFree && running.length > 0) await machines.destroy(running.shift()!);
      const spec = this.#spec();
      this.#options.doing(`creating machine ${count} of ${cloneCount}`);
      ms.push(await this.#start("nothing", spec));
      running.push(spec.id);
      most = Math.max(most, running.length);
      answers.push(await this.#lines(spec.id, Object.values(unique).join("; ")));
    }
    for (const id of running) await machines.destroy(id);
    const { found, problem } = compared(Object.keys(unique), answers);
    const times = `p50 ${milliseconds(median(ms))}, most ${milliseconds(Math.max(...ms))}`;
    return { found: `${most} at once; ${times}; ${found}`, ...(problem && { problem }), ms };
  }

  /** The lines that a command prints in a machine. */
  async #lines(id: string, command: string): Promise<string[]> {
    const guest = await this.#options.machines.guest(id);
    const { stdout } = await guest.exec({ command, user: "agent", timeoutMs: commandTimeoutMs });
    return stdout.trim().split("\n");
  }
}

/** Whether the machines' outputs, a line for each of the names, all differ. */
export function compared(names: readonly string[], answers: readonly string[][]): Pick<Found, "found" | "problem"> {
  const equal = names.filter((_, line) => {
    const said = answers.map((lines) => lines[line] ?? "");
    return said.includes("") || new Set(said).size < said.length;
  });
  if (equal.length === 0) return { found: `no two share ${names.join(", ")}` };
  return { found: `equal or missing: ${equal.join(", ")}`, problem: "Two machines share properties that must differ." };
}

/** An error's message with those of its causes. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message} (${wordsOf(error.cause)})`;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

const milliseconds = (ms: number) => `${Math.round(ms)} ms`;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
