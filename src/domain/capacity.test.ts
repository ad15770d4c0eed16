import { expect, test } from "vitest";
import { Capacity, type CapacityOptions, type Place } from "./capacity.ts";

const nobody = new AbortController().signal;

function place(agentId: string, accountId = "a", memoryMiB = 1): Place {
  return { agentId, accountId, memoryMiB };
}

function open(changes: Partial<CapacityOptions> = {}): Capacity {
  return new Capacity({
    ...{ memoryMiB: 100, machines: 2, accountShare: 1, waiting: 3, waitMs: 60_000 },
    shared: async () => true,
    makeRoom: async () => false,
    ...changes,
  });
}

/** Takes a place; tells in `log` when it was had. */
function take(capacity: Capacity, asked: Place, log: string[], signal = nobody): Promise<void> {
  return capacity.take(asked, () => {}, signal).then(() => void log.push(asked.agentId));
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test("those who wait get their places in order", async () => {
  const capacity = open();
  const log: string[] = [];
  const all = ["1", "2", "3", "4"].map((id) => take(capacity, place(id), log));
  await turn();
  expect([log, capacity.taken, capacity.waiting]).toEqual([["1", "2"], 2, 2]);
  capacity.release("2");
  capacity.release("1");
  await Promise.all(all);
  expect(log).toEqual(["1", "2", "3", "4"]);
});

test("one that waits is told its position as it moves", async () => {
  const capacity = open({ machines: 1 });
  const positions: number[] = [];
  await capacity.take(place("1"), () => {}, nobody);
  const second = capacity.take(place("2"), () => {}, nobody);
  const third = capacity.take(place("3"), (position) => positions.push(position), nobody);
  await turn();
  capacity.release("1");
  await second;
  await turn();
  expect([...new Set(positions)]).toEqual([2, 1]);
  capacity.release("2");
  await third;
});

test("a large machine that waits is not passed by small ones", async () => {
  const capacity = open({ memoryMiB: 10, machines: 10 });
  const log: string[] = [];
  const taken = [take(capacity, place("small", "a", 6), log), take(capacity, place("large", "a", 8), log)];
  taken.push(take(capacity, place("tiny", "a", 1), log));
  await turn();
  expect(log).toEqual(["small"]);
  capacity.release("small");
  await Promise.all(taken);
  expect(log).toEqual(["small", "large", "tiny"]);
});

test("an account that has its share keeps nobody else waiting", async () => {
  const asked: (string | null)[] = [];
  const makeRoom = async (accountId: string | null) => {
    asked.push(accountId);
    return false;
  };
  const capacity = open({ machines: 4, accountShare: 0.5, makeRoom });
  const log: string[] = [];
  const waiting = ["1", "2", "3"].map((id) => take(capacity, place(id, "greedy"), log));
  waiting.push(take(capacity, place("4", "modest"), log));
  await turn();
  expect(log).toEqual(["1", "2", "4"]);
  expect(asked).toContain("greedy");
  capacity.release("1");
  await Promise.all(waiting);
});

test("while machines are asked for room, which may take long, places that are free are given away", async () => {
  const answers: (() => void)[] = [];
  const makeRoom = () => new Promise<boolean>((resolve) => answers.push(() => resolve(false)));
  const capacity = open({ machines: 4, accountShare: 0.5, makeRoom });
  const log: string[] = [];
  const greedy = ["1", "2", "3", "4"].map((id) => take(capacity, place(id, "greedy"), log));
  await turn();
  await take(capacity, place("5", "modest"), log);
  expect(log).toEqual(["1", "2", "5"]);
  // One at a time, and again when it was needed meanwhile.
  expect(answers).toHaveLength(1);
  answers[0]!();
  await turn();
  expect(answers).toHaveLength(2);
  capacity.release("1");
  capacity.release("2");
  await Promise.all(greedy);
});

test("an account that is alone may have all places", async () => {
  const capacity = open({ accountShare: 0.5, shared: async () => false });
  await capacity.take(place("1"), () => {}, nobody);
  await capacity.take(place("2"), () => {}, nobody);
});

test("idle machines are asked to make room, one for each that waits", async () => {
  const capacity: Capacity = open({
    makeRoom: async () => {
      const idle = ["1", "2"].find((id) => !gone.has(id));
      if (!idle) return false;
      gone.add(idle);
      setTimeout(() => capacity.release(idle), 1);
      return true;
    },
  });
  const gone = new Set<string>();
  const log: string[] = [];
  await Promise.all(["1", "2", "3", "4"].map((id) => take(capacity, place(id), log)));
  expect(log).toEqual(["1", "2", "3", "4"]);
});

test("who gives up waiting, waits too long or can never fit is told so, and is out of the way", async () => {
  const capacity = open({ machines: 1, waitMs: 20 });
  await capacity.take(place("1"), () => {}, nobody);
  const cancel = new AbortController();
  const given = capacity.take(place("2"), () => {}, cancel.signal);
  cancel.abort(new Error("not needed any more"));
  await expect(given).rejects.toThrow("not needed any more");
  await expect(capacity.take(place("3"), () => {}, nobody)).rejects.toMatchObject({ code: "no_capacity" });
  await expect(capacity.take(place("4", "a", 101), () => {}, nobody)).rejects.toMatchObject({ code: "no_capacity" });
  expect(capacity.waiting).toBe(0);
});

test("a queue that is full takes no more", async () => {
  const capacity = open({ machines: 1, waiting: 1 });
  await capacity.take(place("1"), () => {}, nobody);
  capacity.requireQueue();
  const waiting = capacity.take(place("2"), () => {}, nobody);
  await turn();
  expect(() => capacity.requireQueue()).toThrow(/waiting for one: 1/);
  capacity.release("1");
  await waiting;
});

test("while nobody can say whether there are other accounts, who waits goes on waiting", async () => {
  const capacity = open({
    accountShare: 0.5,
    shared: async () => {
      throw new Error("the database is away");
    },
  });
  const log: string[] = [];
  const all = ["1", "2"].map((id) => take(capacity, place(id), log));
  await turn();
  expect([log, capacity.waiting]).toEqual([["1"], 1]);
  capacity.release("1");
  await Promise.all(all);
});
