import { expect, test } from "vitest";
import { RequestMemory } from "./request-memory.ts";

const nobody = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Asks for memory and notes when it is granted. */
function asking(memory: RequestMemory) {
  const granted: string[] = [];
  const holds = new Map<string, Disposable>();
  const ask = (agent: string, name: string, bytes: number, signal = nobody) =>
    memory.acquire({ agent, account: `account of ${agent.split(" ")[0]}` }, bytes, signal).then((hold) => {
      granted.push(name);
      holds.set(name, hold);
    });
  return { granted, ask, give: (name: string) => holds.get(name)![Symbol.dispose]() };
}

test("memory is limited per agent and in total", async () => {
  const { granted, ask, give } = asking(new RequestMemory({ total: 100, perAccount: 100, perAgent: 60 }));
  void ask("ada", "ada 1", 40);
  void ask("ada", "ada 2", 40);
  void ask("bob", "bob 1", 50);
  void ask("eve", "eve 1", 30);
  await settled();
  // The second of ada's is beyond her own bound, eve's beyond that of all.
  expect(granted).toEqual(["ada 1", "bob 1"]);
  give("ada 1");
  await settled();
  expect(granted).toEqual(["ada 1", "bob 1", "ada 2"]);
  give("bob 1");
  await settled();
  expect(granted).toEqual(["ada 1", "bob 1", "ada 2", "eve 1"]);
});

test("an agent that asks for everything at once keeps no other out", async () => {
  const { granted, ask, give } = asking(new RequestMemory({ total: 2, perAccount: 2, perAgent: 2 }));
  for (const n of [1, 2, 3, 4]) void ask("greedy", `greedy ${n}`, 1);
  void ask("modest", "modest", 1);
  await settled();
  expect(granted).toEqual(["greedy 1", "greedy 2"]);
  give("greedy 1");
  await settled();
  expect(granted.at(-1)).toBe("modest");
});

test("the agents of one account together leave room for others'", async () => {
  const { granted, ask, give } = asking(new RequestMemory({ total: 100, perAccount: 50, perAgent: 30 }));
  for (const agent of ["eve a", "eve b", "eve c"]) void ask(agent, agent, 25);
  void ask("modest", "modest", 25);
  await settled();
  expect(granted).toEqual(["eve a", "eve b", "modest"]);
  give("eve a");
  await settled();
  expect(granted.at(-1)).toBe("eve c");
});

test("a waiter that aborts takes no memory and blocks no other", async () => {
  const { granted, ask, give } = asking(new RequestMemory({ total: 10, perAccount: 10, perAgent: 10 }));
  void ask("ada", "ada", 10);
  const gone = new AbortController();
  const left = ask("bob", "bob", 10, gone.signal);
  void ask("eve", "eve", 10);
  gone.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  give("ada");
  await settled();
  expect(granted).toEqual(["ada", "eve"]);
});
