import { once } from "node:events";
import { expect, test } from "vitest";
import { contextWith } from "../../test/support/context.ts";
import type { AgentState } from "../agents/agent.ts";
import { noUsage } from "../billing/usage.ts";
import type { SequencedEvent } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import type { GuestClient } from "../contract/guest-calls.ts";
import { noLimits } from "../contract/limits.ts";
import { allAllowed } from "../contract/permissions.ts";
import { GuestLeases } from "../lifecycle/guest-leases.ts";
import { RunningTurns } from "./running-turns.ts";
import type { TurnStore } from "./store.ts";
import type { TurnState } from "./turn.ts";
import { Turns } from "./turns.ts";

const journal: SequencedEvent[] = [
  { seq: 1, event: { type: "response.output_text.delta", delta: "hello" } },
  { seq: 2, event: { type: "response.completed" } },
];

/** Rows that tell how far a turn had come only when they are let, and machines that have answered everything. */
function scripted(progress: Promise<void>, { silent = false, maximumTurnBytes = 64 * 1024 ** 2 } = {}) {
  const turns = new Map<string, TurnState>();
  const events = new Map<string, SequencedEvent[]>();
  const rows: Pick<
    TurnStore,
    "insert" | "find" | "running" | "events" | "progress" | "sweepRetellings" | "remove" | "append" | "end"
  > = {
    insert: async (turn, _, first) => {
      turns.set(turn.id, turn);
      events.set(turn.id, [first]);
      return turn;
    },
    find: async (_, id) => turns.get(id) ?? null,
    running: async () =>
      [...turns.values()]
        .filter(({ status }) => status === "running")
        .map((turn) => ({
          turn,
          agent: {
            instructions: null,
            effort: null,
            acp: null,
            mcpServers: {},
            agents: [],
            schedules: null,
            fallbackModels: [],
            autoSnapshot: 0,
            permissions: allAllowed,
            ...noLimits,
          },
        })),
    events: async (id, after) => events.get(id)!.filter(({ seq }) => seq > after),
    progress: async (id) => {
      await progress;
      const none = { openTools: [], functionCall: null, openApprovals: [], toolCalls: 0, warned: [], activeMs: 0 };
      return { last: events.get(id)!.at(-1)!.seq, head: null, ...none };
    },
    sweepRetellings: async () => {},
    remove: async (id) => void turns.delete(id),
    append: async (id, added) => void events.get(id)!.push(...added),
    end: async (id, { events: added, status }) => {
      events.get(id)!.push(...added);
      turns.set(id, { ...turns.get(id)!, status });
      return null;
    },
  };
  const running = new RunningTurns();
  async function* answer(after: number, signal?: AbortSignal) {
    if (silent) await once(signal!, "abort");
    yield journal.filter(({ seq }) => seq > after);
  }
  const guest: Partial<GuestClient> = {
    prompt: (_request, { signal } = {}) => answer(0, signal),
    turnEvents: ({ after }, { signal } = {}) => answer(after, signal),
    cancel: async () => ({}),
    answerFunction: async () => {
      throw new Error("read ECONNRESET");
    },
    enterConversation: async () => ({}),
  };
  const context = contextWith({
    stores: {
      skills: { ofAgent: async () => [] },
      turns: rows,
      conversations: { forTurn: async () => ({ retold: null, isResumed: false }) },
      queues: { stopped: async () => [] },
      agents: { byId: async (id) => agentOf(id) as AgentState },
    },
    running,
    machines: {
      guest: async () => guest as GuestClient,
      isRunning: async () => true,
      ended: () => new Promise(() => {}),
    },
    ledger: { requireCredits: async () => {} },
    reserve: { require: async () => {} },
    lifecycle: { requireSlot: () => {}, ready: async () => {}, watch: async function* () {} },
    idleness: { keepOpen: () => ({ [Symbol.dispose]: () => {} }) },
    hungGuests: { suspect: async () => {} },
    slots: { retry: () => {} },
    searchIndexer: { wake: () => {} },
    snapshots: { beforeTurn: async () => {} },
    models: { modelOf: async () => null, forRuntime: async (model) => model },
    metrics: { firstDelta: () => {}, stored: () => {}, turnEnded: () => {} },
    config: { stallMs: 60_000, maximumTurnBytes },
    logger: { info: () => {} },
    tracer: null,
    log: () => {},
  });
  const service = new Turns(Object.assign(context, { leases: new GuestLeases(context) }));
  return { turns, rows, events, running, service };
}

const moment = { conversation: 1, runtime: "claude-code", restores: 0 };
const caller = { accountId: "account", keyId: null, personId: null };
const agentOf = (id: string) => ({
  id,
  isHere: true,
  status: "ready",
  desired: "running",
  conversation: 1,
  instructions: null,
  agents: [] as string[],
  schedules: null,
  permissions: allAllowed,
  ...noLimits,
});

function runningTurn(id: string, agentId: string): TurnState {
  return {
    id,
    agentId,
    keyId: null,
    personId: null,
    conversation: 1,
    attachments: [],
    namesConversation: false,
    message: "hi",
    model: null,
    effort: null,
    status: "running",
    usage: noUsage,
    instructions: null,
    functions: null,
    onAsk: "deny",
    limits: null,
    outputSchema: null,
    waiting: false,
    queuedAt: null,
    asked: null,
  };
}

test("a turn that begins and ends while a server finds what was left to it is not begun a second time", async () => {
  const progress = Promise.withResolvers<void>();
  const { rows, events, running, service } = scripted(progress.promise);
  const left = crypto.randomUUID();
  const first = { seq: 1, event: { type: "response.created" } } as const;
  const turn = runningTurn(left, "bob");
  await rows.insert(turn, moment, first, "reject");
  const begun = crypto.randomUUID();
  await service.begin(begun, agentOf("ada") as AgentState, "hi", caller);
  const recovered = service.recover();
  await expect.poll(() => events.get(begun)!.at(-1)!.event.type).toBe("response.completed");
  await expect.poll(() => running.size).toBe(0);
  progress.resolve();
  await recovered;
  await expect.poll(() => events.get(left)!.at(-1)!.event.type).toBe("response.completed");
  expect(running.ofAgent("ada")).toBe(null);
  expect(events.get(begun)!.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
});

test("a function's result that is lost with the guest's connection is a failure of the machine", async () => {
  const { service } = scripted(Promise.resolve());
  const turn = runningTurn(crypto.randomUUID(), "ada");
  const answered = service.answerFunction(agentOf("ada") as AgentState, turn, "call", "rain");
  await expect(answered).rejects.toMatchObject({ code: "machine_failed" });
});

test("cancelling a turn releases an unresponsive guest", async () => {
  const { rows, events, running, service } = scripted(Promise.resolve(), { silent: true });
  const id = crypto.randomUUID();
  const turn = await service.begin(id, agentOf("ada") as AgentState, "hi", caller);
  await expect.poll(() => events.get(id)!.at(-1)!.event.type).toBe("response.in_progress");
  const { over } = running.get(id)!;
  await service.cancel(agentOf("ada") as AgentState, turn);
  await expect.poll(() => over.signal.aborted).toBe(true);
  expect(running.size).toBe(0);
  expect((await rows.find("ada", id))!.status).toBe("cancelled");
});

test("a running row that no server runs is taken up by the next sweep, and a cancel of it is answered", async () => {
  const { turns, rows, events, service } = scripted(Promise.resolve());
  await service.recover();
  const id = crypto.randomUUID();
  const turn = runningTurn(id, "ada");
  await rows.insert(turn, moment, { seq: 1, event: { type: "response.created" } }, "reject");
  const cancelled = service.cancel(agentOf("ada") as AgentState, turn).catch((error: Error) => error);
  await service.sweep();
  await cancelled;
  await expect.poll(() => turns.get(id)!.status).not.toBe("running");
  await expect.poll(() => events.get(id)!.at(-1)!.event.type).toMatch(/completed|cancelled/);
});

test("a refused turn whose row comes after its removal is removed by the next sweep, and is not answered", async () => {
  const { turns, rows, events, service } = scripted(Promise.resolve());
  await service.recover();
  const { insert } = rows;
  rows.insert = async () => {
    throw new BerthError("database_unavailable", "The connection broke.");
  };
  const id = crypto.randomUUID();
  await expect(service.begin(id, agentOf("ada") as AgentState, "hi", caller)).rejects.toThrow(/broke/);
  rows.insert = insert;
  await insert(runningTurn(id, "ada"), moment, { seq: 1, event: { type: "response.created" } }, "reject");
  await service.sweep();
  expect(turns.has(id)).toBe(false);
  expect(events.get(id)).toHaveLength(1);
});

test("a turn whose events take too much is ended, with the reason", async () => {
  const { events, service } = scripted(Promise.resolve(), { maximumTurnBytes: 20 });
  const id = crypto.randomUUID();
  await service.begin(id, agentOf("ada") as AgentState, "hi", caller);
  await expect
    .poll(() => events.get(id)!.at(-1)!.event)
    .toMatchObject({ type: "response.failed", error: { code: "turn_too_large" } });
});
