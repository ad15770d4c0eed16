import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SerialQueue, SharedLock } from "./locks.ts";

describe("SharedLock", () => {
  test("a task that waited for an exclusive one never overlaps the next one", async () => {
    const lock = new SharedLock();
    const first = Promise.withResolvers<void>();
    const running = new Set<string>();
    const overlaps: string[][] = [];
    const task = (name: string, until: Promise<void> | null) => async () => {
      running.add(name);
      if (running.size > 1) overlaps.push([...running]);
      await (until ?? Promise.resolve());
      running.delete(name);
    };
    const sweep = lock.tryAlone(task("sweep 1", first.promise));
    const again = sweep.then(() => lock.tryAlone(task("sweep 2", null)));
    const take = lock.shared(task("take", null));
    first.resolve();
    await Promise.all([sweep, again, take]);
    expect(overlaps).toEqual([]);
  });

  test("in any interleaving, a lone task overlaps with nothing and every shared task runs", async () => {
    const kinds = fc.constantFrom("take", "restore", "remove", "sweep", "merge", "kill");
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(kinds, { maxLength: 12 }), async (scheduler, tasks) => {
        const lock = new SharedLock();
        let shared = 0;
        let alone = 0;
        let ran = 0;
        const step = (name: string) => scheduler.schedule(Promise.resolve(), name);
        const work = async (kind: string) => {
          ran++;
          await step(`${kind} begins`);
          if (kind === "kill") throw new Error("killed");
          await step(`${kind} ends`);
        };
        const call = async (kind: string) => {
          await step(`${kind} is called`);
          if (kind === "sweep" || kind === "merge") {
            await lock.tryAlone(async () => {
              alone++;
              expect({ alone, shared }).toEqual({ alone: 1, shared: 0 });
              await work(kind).finally(() => alone--);
            });
            return;
          }
          await lock.shared(async () => {
            shared++;
            expect(alone).toBe(0);
            await work(kind).finally(() => shared--);
          });
        };
        const outcomes = await scheduler.waitFor(Promise.allSettled(tasks.map(call)));
        const failed = outcomes.filter(({ status }) => status === "rejected").length;
        expect(failed).toBe(tasks.filter((kind) => kind === "kill").length);
        const isShared = (kind: string) => kind !== "sweep" && kind !== "merge";
        expect(ran).toBeGreaterThanOrEqual(tasks.filter(isShared).length);
      }),
    );
  });
});

describe("SerialQueue", () => {
  test("runs the tasks of a key in order, also after one that rejects", async () => {
    const queue = new SerialQueue();
    const order: string[] = [];
    const task = (name: string, fails = false) =>
      queue.run("key", async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const results = await Promise.allSettled([task("one"), task("two", true), task("three")]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(order).toEqual(["one begins", "one ends", "two begins", "two ends", "three begins", "three ends"]);
  });

  test("the tasks of other keys do not wait", async () => {
    const queue = new SerialQueue();
    const first = Promise.withResolvers<void>();
    const waiting = queue.run("a", () => first.promise);
    expect(await queue.run("b", async () => "done")).toBe("done");
    first.resolve();
    await waiting;
  });
});
