import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Approvals } from "../runtimes/approvals.ts";
import { allAbilities, type Runtime, type RuntimeContext, type StartContext } from "../runtimes/runtime.ts";
import { TurnChanges } from "./changes/turn-changes.ts";
import { ClientFunctions } from "./client-functions.ts";
import { Conversation } from "./conversation.ts";
import { type Journal, Journals } from "./journal.ts";

let folder: string;
/** Model calls made by the runtime. */
let calls = 0;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-conversation-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Counts until cancelled. */
const counting: Runtime = {
  name: "counting",
  description: "Counts.",
  package: "openclaw",
  abilities: allAbilities,
  memoryMiB: 1,
  wires: [],
  defaultModels: [],
  warmUp: [],
  start: async () => ({
    prompt: async (_, emit, signal) => {
      for (let step = 1; step <= 5; step++) {
        if (signal.aborted) return { type: "response.cancelled" };
        emit({ type: "response.output_text.delta", delta: `${step} ` });
        await sleep(5);
      }
      return { type: "response.completed" };
    },
    id: "counting",
    steer: async () => false,
    enter: async () => {},
    stop: () => {},
    ended: new Promise(() => {}),
  }),
};

function conversationIn(journalFolder: string, runtime = counting): Conversation {
  const files = { home: join(folder, "home"), stateFolder: folder, environmentFile: join(folder, "environment") };
  const context = { uid: 2 ** 22, ...files, approvals: new Approvals(), log: () => {} } as unknown as RuntimeContext;
  const conversation = new Conversation(
    [runtime],
    context,
    new Journals(journalFolder),
    async () => {},
    new ClientFunctions(),
    {
      get calls() {
        return calls;
      },
      hold: () => {},
    },
    new TurnChanges(context),
  );
  conversation.choose(runtime.name, null);
  return conversation;
}

const prompt = { message: "count", model: null, conversation: 1 };

async function endOf(journal: Journal) {
  const events = (await Array.fromAsync(journal.read(0, new AbortController().signal))).flat();
  return { last: events.at(-1)!.event, count: events.length };
}

test("a turn that is cancelled before its prompt has come to it does nothing", async () => {
  const conversation = conversationIn(folder);
  const prompted = conversation.prompt("turn-1", prompt);
  expect(conversation.cancel("turn-1")).toBe(false);
  expect(await endOf(await prompted)).toEqual({ last: { type: "response.cancelled" }, count: 1 });
  expect((await endOf(await conversation.prompt("turn-2", prompt))).last).toEqual({ type: "response.completed" });
});

test("a turn that a limit stops fails with the reason, also if no server hears of it", async () => {
  const conversation = conversationIn(folder);
  const journal = await conversation.prompt("turn-1", prompt);
  const error = { code: "limit_reached", message: "The turn has reached its limit of 3 tool calls." } as const;
  expect(conversation.cancel("turn-1", error)).toBe(true);
  expect((await endOf(journal)).last).toEqual({ type: "response.failed", error });
});

test("a turn whose events the disk does not take is no hindrance for the next", async () => {
  const conversation = conversationIn(join(folder, "absent"));
  for (const turnId of ["turn-1", "turn-2"]) {
    const { last } = await endOf(await conversation.prompt(turnId, prompt));
    expect(last).toMatchObject({ type: "response.failed", error: { message: expect.stringContaining("ENOENT") } });
  }
});

test("a runtime that hangs as it begins an empty conversation is given up when its turn is cancelled", async () => {
  let starts = 0;
  const hangs = Promise.withResolvers<void>();
  const hanging: Runtime = {
    ...counting,
    start: async (context) => {
      const session = await counting.start(context);
      const enter = () => {
        hangs.resolve();
        return new Promise<void>(() => {});
      };
      return ++starts > 1 ? session : { ...session, enter };
    },
  };
  const conversation = conversationIn(folder, hanging);
  const hung = await conversation.prompt("turn-1", { ...prompt, conversation: 2 });
  await hangs.promise;
  expect(conversation.cancel("turn-1")).toBe(true);
  expect((await endOf(hung)).last).toEqual({ type: "response.cancelled" });
  const next = await conversation.prompt("turn-2", { ...prompt, conversation: 2 });
  expect((await endOf(next)).last).toEqual({ type: "response.completed" });
  expect(starts).toBe(2);
});

test("cancelling a turn during the runtime's start keeps the start", async () => {
  let starts = 0;
  const begun = Promise.withResolvers<void>();
  const slow: Runtime = {
    ...counting,
    start: async (context) => {
      starts += 1;
      await begun.promise;
      return counting.start(context);
    },
  };
  const conversation = conversationIn(folder, slow);
  const early = await conversation.prompt("turn-1", prompt);
  conversation.cancel("turn-1");
  expect(await endOf(early)).toEqual({ last: { type: "response.cancelled" }, count: 1 });
  const next = await conversation.prompt("turn-2", prompt);
  begun.resolve();
  expect(await endOf(next)).toEqual({ last: { type: "response.completed" }, count: 6 });
  expect(starts).toBe(1);
});

test("a runtime whose start fails because of what passes is started again; one that never starts fails the turn", async () => {
  let starts = 0;
  const held = (times: number): Runtime => ({
    ...counting,
    start: async (context) => {
      if (++starts <= times) throw new Error("Another lease is still active.");
      return counting.start(context);
    },
  });
  const passes = await conversationIn(folder, held(2)).prompt("turn-1", prompt);
  expect((await endOf(passes)).last).toEqual({ type: "response.completed" });
  expect(starts).toBe(3);
  const conversation = conversationIn(folder, held(Infinity));
  const error = { code: "runtime_failed", message: "Another lease is still active." };
  expect((await endOf(await conversation.prompt("turn-2", prompt))).last).toEqual({ type: "response.failed", error });
  expect(conversation.state).toEqual({ runtime: "failed", reason: error.message });
});

test("a runtime that ends without a word is given its message once more, but not when it has asked a model", async () => {
  let prompts = 0;
  const dying = (asks: boolean): Runtime => ({
    ...counting,
    start: async (context) => ({
      ...(await counting.start(context)),
      ended: Promise.resolve(),
      prompt: async () => {
        prompts += 1;
        if (asks) calls += 1;
        return { type: "response.failed", error: { code: "runtime_failed", message: "It ended." } };
      },
    }),
  });
  const message = { type: "response.failed", error: { message: "The runtime ended at once, twice." } };
  expect((await endOf(await conversationIn(folder, dying(false)).prompt("turn-1", prompt))).last).toMatchObject(
    message,
  );
  expect(prompts).toBe(2);
  const asked = { type: "response.failed", error: { message: "It ended." } };
  expect((await endOf(await conversationIn(folder, dying(true)).prompt("turn-2", prompt))).last).toMatchObject(asked);
  expect(prompts).toBe(3);
});

/** Counts how often it enters a new session; the first time waits for `gate`. */
function emptied(gate: Promise<void> = Promise.resolve()) {
  const runtime: Runtime = {
    ...counting,
    start: async (context) => ({
      ...(await counting.start(context)),
      prompt: async (_, emit) => {
        emit({ type: "response.output_text.delta", delta: `emptied ${counts.done} times` });
        return { type: "response.completed" };
      },
      enter: async () => {
        counts.begun += 1;
        await gate;
        counts.done += 1;
      },
    }),
  };
  const counts = { begun: 0, done: 0, runtime };
  return counts;
}

async function textOf(journal: Journal): Promise<string> {
  const events = (await Array.fromAsync(journal.read(0, new AbortController().signal))).flat();
  return events.map(({ event }) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
}

test("a runtime at rest is emptied at once, and not again by the next message", async () => {
  const counts = emptied();
  const conversation = conversationIn(folder, counts.runtime);
  await conversation.open();
  await conversation.enter(2);
  expect(counts.done).toBe(1);
  expect(await textOf(await conversation.prompt("turn-1", { ...prompt, conversation: 2 }))).toBe("emptied 1 times");
  // A late one.
  await conversation.enter(1);
  await conversation.enter(2);
  expect(counts.done).toBe(1);
});

test("a message that comes while the runtime is being emptied waits for it", async () => {
  const gate = Promise.withResolvers<void>();
  const counts = emptied(gate.promise);
  const conversation = conversationIn(folder, counts.runtime);
  await conversation.open();
  const entered = conversation.enter(2);
  await expect.poll(() => counts.begun).toBe(1);
  const journal = await conversation.prompt("turn-1", { ...prompt, conversation: 2 });
  gate.resolve();
  expect(await textOf(journal)).toBe("emptied 1 times");
  await entered;
  expect(counts.begun).toBe(1);
});

test("a runtime that does not run, or answers, is emptied by the next message only", async () => {
  const gate = Promise.withResolvers<void>();
  const counts = emptied();
  const asleep = conversationIn(folder, counts.runtime);
  await asleep.enter(2);
  expect(counts.done).toBe(0);
  const session = { ...(await counts.runtime.start({} as StartContext)) };
  const answering: Runtime = {
    ...counts.runtime,
    start: async () => ({
      ...session,
      prompt: async () => {
        await gate.promise;
        return { type: "response.completed" };
      },
    }),
  };
  const conversation = conversationIn(folder, answering);
  const first = await conversation.prompt("turn-1", prompt);
  await expect.poll(() => conversation.state.runtime).toBe("ready");
  await conversation.enter(2);
  expect(counts.done).toBe(0);
  gate.resolve();
  await endOf(first);
  await endOf(await conversation.prompt("turn-2", { ...prompt, conversation: 2 }));
  expect(counts.done).toBe(1);
});

test("a runtime that hangs as it is emptied is given up with the turn that waits for it", async () => {
  let starts = 0;
  const counts = emptied(new Promise(() => {}));
  const hanging: Runtime = {
    ...counting,
    start: (context) => (++starts > 1 ? counting : counts.runtime).start(context),
  };
  const conversation = conversationIn(folder, hanging);
  await conversation.open();
  void conversation.enter(2);
  await expect.poll(() => counts.begun).toBe(1);
  const waiting = await conversation.prompt("turn-1", { ...prompt, conversation: 2 });
  await setImmediate(); // By now it is waiting.
  conversation.cancel("turn-1");
  expect((await endOf(waiting)).last).toEqual({ type: "response.cancelled" });
  const next = await conversation.prompt("turn-2", { ...prompt, conversation: 2 });
  expect((await endOf(next)).last).toEqual({ type: "response.completed" });
  expect(starts).toBe(2);
});
