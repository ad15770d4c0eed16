import { expect, test } from "vitest";
import { type Slot, Slots, type SlotsOptions } from "./slots.ts";

const nobody = new AbortController().signal;

function slot(agentId: string, accountId = "a", memoryMiB = 1): Slot {
  return { agentId, accountId, memoryMiB };
}

function open(changes: Partial<SlotsOptions> = {}): Slots {
  return new Slots({
    memoryMiB: 100,
    machines: 2,
    accountShare: 1,
    waiting: 3,
    waitMs: 60_000,
    shared: async () => true,
    evictIdle: async () => false,
    ...changes,
  });
}

/** Takes a slot; tells in `log` when it was had. */
function acquire(slots: Slots, asked: Slot, log: string[], signal = nobody): Promise<void> {
  return slots.acquire(asked, () => {}, signal).then(() => void log.push(asked.agentId));
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test("those who wait get their slots in order", async () => {
  const slots = open();
  const log: string[] = [];
  const all = ["1", "2", "3", "4"].map((id) => acquire(slots, slot(id), log));
  await turn();
  expect([log, slots.used, slots.waiting]).toEqual([["1", "2"], 2, 2]);
  slots.release("2");
  slots.release("1");
  await Promise.all(all);
  expect(log).toEqual(["1", "2", "3", "4"]);
});

test("a waiter gets its position as it moves", async () => {
  const slots = open({ machines: 1 });
  const positions: number[] = [];
  await slots.acquire(slot("1"), () => {}, nobody);
  const second = slots.acquire(slot("2"), () => {}, nobody);
  const third = slots.acquire(slot("3"), (position) => positions.push(position), nobody);
  await turn();
  slots.release("1");
  await second;
  await turn();
  expect([...new Set(positions)]).toEqual([2, 1]);
  slots.release("2");
  await third;
});

test("a large machine that waits is not passed by small ones", async () => {
  const slots = open({ memoryMiB: 10, machines: 10 });
  const log: string[] = [];
  const taken = [acquire(slots, slot("small", "a", 6), log), acquire(slots, slot("large", "a", 8), log)];
  taken.push(acquire(slots, slot("tiny", "a", 1), log));
  await turn();
  expect(log).toEqual(["small"]);
  slots.release("small");
  await Promise.all(taken);
  expect(log).toEqual(["small", "large", "tiny"]);
});

test("an account that has its share keeps nobody else waiting", async () => {
  const asked: (string | null)[] = [];
  const evictIdle = async (accountId: string | null) => {
    asked.push(accountId);
    return false;
  };
  const slots = open({ machines: 4, accountShare: 0.5, evictIdle });
  const log: string[] = [];
  const waiting = ["1", "2", "3"].map((id) => acquire(slots, slot(id, "greedy"), log));
  waiting.push(acquire(slots, slot("4", "modest"), log));
  await turn();
  expect(log).toEqual(["1", "2", "4"]);
  expect(asked).toContain("greedy");
  slots.release("1");
  await Promise.all(waiting);
});

test("while machines are asked for room, which may take long, slots that are free are given away", async () => {
  const answers: (() => void)[] = [];
  const evictIdle = () => new Promise<boolean>((resolve) => answers.push(() => resolve(false)));
  const slots = open({ machines: 4, accountShare: 0.5, evictIdle });
  const log: string[] = [];
  const greedy = ["1", "2", "3", "4"].map((id) => acquire(slots, slot(id, "greedy"), log));
  await turn();
  await acquire(slots, slot("5", "modest"), log);
  expect(log).toEqual(["1", "2", "5"]);
  // One at a time, and again when it was needed meanwhile.
  expect(answers).toHaveLength(1);
  answers[0]!();
  await turn();
  expect(answers).toHaveLength(2);
  slots.release("1");
  slots.release("2");
  await Promise.all(greedy);
});

test("a machine that grows waits for the difference, and keeps its slot in the meantime", async () => {
  const slots = open({ memoryMiB: 100, machines: 10 });
  await slots.acquire(slot("1", "a", 30), () => {}, nobody);
  await slots.acquire(slot("2", "a", 50), () => {}, nobody);
  const log: string[] = [];
  const grown = acquire(slots, slot("1", "a", 60), log);
  await turn();
  expect([log, slots.capacity().memoryMiB.used]).toEqual([[], 80]);
  slots.release("2");
  await grown;
  expect(slots.capacity().memoryMiB.used).toBe(60);
  expect(slots.tryHold(slot("3", "a", 50))).toBe(false);
  await slots.acquire(slot("1", "a", 20), () => {}, nobody);
  expect(slots.capacity().memoryMiB.used).toBe(20);
});

test("an account that is alone may have all slots", async () => {
  const slots = open({ accountShare: 0.5, shared: async () => false });
  await slots.acquire(slot("1"), () => {}, nobody);
  await slots.acquire(slot("2"), () => {}, nobody);
});

test("idle machines are asked to make room, one for each that waits", async () => {
  const slots: Slots = open({
    evictIdle: async () => {
      const idle = ["1", "2"].find((id) => !gone.has(id));
      if (!idle) return false;
      gone.add(idle);
      setTimeout(() => slots.release(idle), 1);
      return true;
    },
  });
  const gone = new Set<string>();
  const log: string[] = [];
  await Promise.all(["1", "2", "3", "4"].map((id) => acquire(slots, slot(id), log)));
  expect(log).toEqual(["1", "2", "3", "4"]);
});

test("removes a waiter that aborts, times out or can never fit, and says why", async () => {
  const slots = open({ machines: 1, waitMs: 20 });
  await slots.acquire(slot("1"), () => {}, nobody);
  const cancel = new AbortController();
  const given = slots.acquire(slot("2"), () => {}, cancel.signal);
  cancel.abort(new Error("not needed any more"));
  await expect(given).rejects.toThrow("not needed any more");
  await expect(slots.acquire(slot("3"), () => {}, nobody)).rejects.toMatchObject({ code: "no_capacity" });
  await expect(slots.acquire(slot("4", "a", 101), () => {}, nobody)).rejects.toMatchObject({ code: "no_capacity" });
  expect(slots.waiting).toBe(0);
});

test("a queue that is full takes no more", async () => {
  const slots = open({ machines: 1, waiting: 1 });
  await slots.acquire(slot("1"), () => {}, nobody);
  slots.requireQueue(slot("2"));
  const waiting = slots.acquire(slot("2"), () => {}, nobody);
  await turn();
  expect(() => slots.requireQueue(slot("3"))).toThrow("1 of its machines are waiting");
  slots.release("1");
  await waiting;
});

test("waiters keep waiting while the number of accounts is unknown", async () => {
  const slots = open({
    accountShare: 0.5,
    shared: async () => {
      throw new Error("the database is away");
    },
  });
  const log: string[] = [];
  const all = ["1", "2"].map((id) => acquire(slots, slot(id), log));
  await turn();
  expect([log, slots.waiting]).toEqual([["1"], 1]);
  slots.release("1");
  await Promise.all(all);
});

test("an account at its share leaves slots and queue to others", async () => {
  const slots = open({ machines: 10, accountShare: 0.8, waiting: 10 });
  const log: string[] = [];
  const left = new AbortController();
  const admitted: Promise<void>[] = [];
  const admit = (asked: Slot) => {
    slots.requireQueue(asked);
    const had = acquire(slots, asked, log, left.signal);
    admitted.push(had);
    return had;
  };
  for (let id = 1; id <= 16; id++) void admit(slot(String(id), "greedy"));
  await turn();
  expect([slots.used, slots.waiting]).toEqual([8, 8]);
  expect(() => slots.requireQueue(slot("17", "greedy"))).toThrow("8 of its machines are waiting");
  await Promise.all([admit(slot("first", "modest")), admit(slot("second", "modest"))]);
  expect(log).toContain("second");
  // Now all are in use: others wait, and those that wait for their own share do not count.
  for (let id = 1; id <= 8; id++) void admit(slot(`late-${id}`, "modest"));
  void admit(slot("third", "other"));
  await turn();
  expect(slots.waiting).toBe(17);
  left.abort(new Error("not needed any more"));
  const ends = await Promise.allSettled(admitted);
  expect(ends.filter(({ status }) => status === "rejected")).toHaveLength(17);
  expect(slots.waiting).toBe(0);
});
