import { setTimeout as sleep } from "node:timers/promises";
import { type SequencedEvent, statusAfter, type TurnEvent } from "../../src/contract/chat.ts";
import { eventsOf, type TestClient } from "./client.ts";

const retryMs = 100;
/** After this many consecutive connections without an event, no more will come. */
const vainTries = 1_200;
const everything = ["status", "reasoning", "tools", "usage"];

/** A reader's habits. */
export interface Habits {
  /** Called after each event: true to hang up and reconnect. */
  leaves?: () => boolean;
  /** The pause after each event, in milliseconds. */
  pauseMs?: () => number;
}

/**
 * Sends a message and reads its turn up to the last event, whatever happens to the connection, the server or anything
 * else. Reconnects with `Last-Event-ID`, and looks the message up if unsure whether it was accepted. `message` must be
 * new to the agent. Rejects if an event is missing, duplicated or out of order.
 */
export async function converse(
  client: TestClient,
  agent: string,
  message: string,
  habits: Habits = {},
): Promise<{ turnId: string; events: SequencedEvent[] }> {
  for (;;) {
    const turnId = await send(client, agent, message);
    const events = await follow(client, agent, turnId, habits);
    // A message refused as "not known whether" may be withdrawn after it was seen.
    if (events) return { turnId, events };
  }
}

/** Reads a turn from its first event to its last. Null if the turn does not exist. */
export async function follow(
  client: TestClient,
  agent: string,
  turnId: string,
  habits: Habits = {},
): Promise<SequencedEvent[] | null> {
  const events: SequencedEvent[] = [];
  for (let vain = 0; vain < vainTries; await sleep(retryMs)) {
    const path = `/agents/${agent}/turns/${turnId}/events?include=${everything.join(",")}`;
    const last = events.at(-1)?.seq ?? 0;
    const response = await client.fetch("GET", path, undefined, { "last-event-id": String(last) }).catch(() => null);
    if (response?.status === 404) return null;
    if (response?.status !== 200) {
      await response?.body?.cancel();
      continue;
    }
    if (await take(response, events, habits)) return events;
    vain = events.at(-1)?.seq === last ? vain + 1 : 0;
  }
  const { data } = (await client.call("GET", `/agents/${agent}/turns`)).body as { data: { id: string }[] };
  const turn = data.find(({ id }) => id === turnId);
  throw new Error(`nothing comes after event ${events.length}: ${JSON.stringify([events.at(-1), turn])}`);
}

/** Reads one connection's events. Returns true after the turn's last event. */
async function take(response: Response, events: SequencedEvent[], habits: Habits): Promise<boolean> {
  try {
    for await (const { id, event } of eventsOf(response)) {
      // Events that were seen but not yet stored are lost with the machine. The turn's end takes their place.
      if (isMachineLost(event)) events.splice(id - 1);
      if (id !== events.length + 1) throw new WrongEvent(`event ${id} came after ${events.length}`);
      events.push({ seq: id, event });
      if (statusAfter(event) !== "running") return true;
      if (habits.leaves?.()) return false;
      const pauseMs = habits.pauseMs?.() ?? 0;
      if (pauseMs > 0) await sleep(pauseMs);
    }
  } catch (error) {
    if (error instanceof WrongEvent) throw error; // Anything else is a broken connection.
  }
  return false;
}

function isMachineLost(event: TurnEvent): boolean {
  return event.type === "response.failed" && event.error.code === "machine_lost";
}

class WrongEvent extends Error {}

/** Retries sending the message until it is accepted, exactly once. Returns the turn's id. */
async function send(client: TestClient, agent: string, message: string): Promise<string> {
  for (; ; await sleep(retryMs)) {
    const response = await client.fetch("POST", `/agents/${agent}/chat`, { message }).catch(() => null);
    const turnId = response?.headers.get("x-turn-id");
    if (turnId) {
      await response?.body?.cancel().catch(() => {});
      return turnId;
    }
    const refusal = await response?.text().catch(() => "");
    if (response && response.status < 500 && response.status !== 409) throw new Error(`chat: ${refusal}`);
    if (refusal?.includes('"agent_failed"')) await client.call("POST", `/agents/${agent}/restart`).catch(() => {});
    const taken = await findTurn(client, agent, message);
    if (taken) return taken;
  }
}

async function findTurn(client: TestClient, agent: string, message: string): Promise<string | null> {
  for (; ; await sleep(retryMs)) {
    const answer = await client.call("GET", `/agents/${agent}/turns`).catch(() => null);
    if (answer?.status !== 200) continue;
    const turns = (answer.body as { data: { id: string; message: string }[] }).data;
    return turns.find((turn) => turn.message === message)?.id ?? null;
  }
}
