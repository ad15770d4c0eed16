import { expect, test } from "vitest";
import type { SequencedEvent } from "../contract/chat.ts";
import type { AgentState } from "./agents.ts";
import type { TurnState } from "./turn.ts";
import { type TurnOptions, type TurnRows, Turns } from "./turns.ts";
import { noUsage } from "./usage.ts";

const journal: SequencedEvent[] = [
  { seq: 1, event: { type: "response.output_text.delta", delta: "hello" } },
  { seq: 2, event: { type: "response.completed" } },
];

/** Rows that tell how far a turn had come only when they are let, and machines that have answered everything. */
function scripted(progress: Promise<void>) {
  const turns = new Map<string, TurnState>();
  const events = new Map<string, SequencedEvent[]>();
  const rows: TurnRows = {
    insert: async (turn, first) => {
      turns.set(turn.id, turn);
      events.set(turn.id, [first]);
    },
    find: async (_, id) => turns.get(id) ?? null,
    running: async () =>
      [...turns.values()].filter(({ status }) => status === "running").map((turn) => ({ ...turn, instructions: null })),
    events: async (id, after) => events.get(id)!.filter(({ seq }) => seq > after),
    progress: async (id) => {
      await progress;
      return { last: events.get(id)!.at(-1)!.seq, head: null, openTools: [] };
    },
    touch: async () => {},
    remove: async () => {},
    append: async (id, added, status) => {
      events.get(id)!.push(...added);
      turns.set(id, { ...turns.get(id)!, status });
    },
  };
  const answer = async function* (after: number) {
    yield journal.filter(({ seq }) => seq > after);
  };
  const options: TurnOptions = {
    rows,
    machines: {
      guest: async () => ({
        prompt: () => answer(0),
        turnEvents: ({ after }) => answer(after),
        cancel: async () => {},
      }),
      ended: () => new Promise(() => {}),
    },
    ready: async () => {},
    requireSlot: () => {},
    measured: { firstDelta: () => {}, stored: () => {}, ended: () => {} },
    modelOf: async () => null,
    stallMs: 60_000,
    log: () => {},
  };
  return { rows, events, service: new Turns(options) };
}

const agentOf = (id: string) => ({ id, status: "ready", desired: "running", conversation: 1, instructions: null });

test("a turn that begins and ends while a server finds what was left to it is not begun a second time", async () => {
  const progress = Promise.withResolvers<void>();
  const { rows, events, service } = scripted(progress.promise);
  const left = crypto.randomUUID();
  const first = { seq: 1, event: { type: "response.created" } } as const;
  const turn: TurnState = {
    id: left,
    agentId: "bob",
    keyId: null,
    conversation: 1,
    message: "hi",
    model: null,
    status: "running",
    usage: noUsage,
  };
  await rows.insert(turn, first);
  const begun = crypto.randomUUID();
  await service.begin(begun, agentOf("ada") as AgentState, "hi", null);
  const recovered = service.recover();
  await expect.poll(() => events.get(begun)!.at(-1)!.event.type).toBe("response.completed");
  await expect.poll(() => service.running).toBe(0);
  progress.resolve();
  await recovered;
  await expect.poll(() => events.get(left)!.at(-1)!.event.type).toBe("response.completed");
  expect(service.current("ada")).toBe(null);
  expect(events.get(begun)!.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
});
