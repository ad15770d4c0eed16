import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { SequencedEvent } from "../../src/contract/chat.ts";
import { KillableService } from "../support/killable-service.ts";
import { randomOf } from "../support/random.ts";
import { converse, follow, type Habits } from "../support/tenacious-reader.ts";
import { checkTranscript } from "../support/transcript.ts";

// For some time: one client after the other talks to each of several agents. Clients hang up and come again at random,
// while server, machines and database are killed at random. Then every transcript must match the runtime's script. By hand
// for longer: BERTH_SOAK_SECONDS=1800 scripts/test test/faults/soak. The printed seed repeats the decisions
// (BERTH_SOAK_SEED), not their timing.

const seconds = Number(process.env.BERTH_SOAK_SECONDS ?? 75);
const seed = Number(process.env.BERTH_SOAK_SEED ?? Date.now() % 1_000_000);
const agents = ["ada", "bob", "cleo", "dan"];

interface Turn {
  agent: string;
  message: string;
  turnId: string;
  events: SequencedEvent[];
}

test(
  `${seconds} s of random faults, seed ${seed}: every transcript is what the runtime said`,
  async () => {
    console.log(`BERTH_SOAK_SEED=${seed} BERTH_SOAK_SECONDS=${seconds}`);
    await using service = await KillableService.start();
    for (const name of agents) await service.client.createAgent(name);
    const deadline = Date.now() + seconds * 1000;
    const conversations = agents.map((agent, index) => talk(service, agent, randomOf(seed + index + 1), deadline));
    const faults = await breakThings(service, randomOf(seed), deadline);
    const turns = (await Promise.all(conversations)).flat();

    // Nothing is stuck: each agent answers, with no help but that of its reader.
    for (const agent of agents) turns.push(await untilCompleted(service, agent));
    const outcomes: Record<string, number> = {};
    for (const { agent, message, turnId, events } of turns) {
      const outcome = checkTranscript(message, events);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      expect(await follow(service.client, agent, turnId)).toEqual(events);
    }
    await checkHeard(service, turns);
    console.log(JSON.stringify({ faults, outcomes, events: turns.flatMap(({ events }) => events).length }));
    expect(outcomes.completed).toBeGreaterThan(0);
  },
  (seconds + 300) * 1000,
);

/** Messages to one agent, one after the other; some turns have a second reader. */
async function talk(service: KillableService, agent: string, random: () => number, deadline: number): Promise<Turn[]> {
  const turns: Turn[] = [];
  while (Date.now() < deadline) {
    const message = `${randomMessage(random)} ${agent}-${turns.length}`;
    const { turnId, events } = await converse(service.client, agent, message, randomHabits(random));
    turns.push({ agent, message, turnId, events });
    if (random() < 0.3) expect(await follow(service.client, agent, turnId, randomHabits(random))).toEqual(events);
  }
  return turns;
}

function randomMessage(random: () => number): string {
  const count = 1 + Math.floor(random() * 300);
  if (random() < 0.2) return `bulk ${count} ${1 + Math.floor(random() * 20_000)} ${Math.floor(random() * 10)}`;
  return random() < 0.2 ? "a word or two" : `count ${count} ${Math.floor(random() * 25)}`;
}

function randomHabits(random: () => number): Habits {
  const leaving = random() < 0.5 ? 0 : random() * 0.05;
  const pausing = random() < 0.7 ? 0 : random() * 0.1;
  return { leaves: () => random() < leaving, pauseMs: () => (random() < pausing ? random() * 300 : 0) };
}

/** Kills something every few seconds. Answers how often what was killed. */
async function breakThings(
  service: KillableService,
  random: () => number,
  deadline: number,
): Promise<Record<string, number>> {
  const restart = async () => {
    await sleep(random() * 1_000);
    await service.startServer();
  };
  const faults: Record<string, () => Promise<void>> = {
    server: () => service.killServer().then(restart),
    machine: async () => {
      const running = await service.running();
      const id = running[Math.floor(random() * running.length)];
      if (id) await service.killMachine(id);
    },
    database: () => service.killDatabase(),
    stop: () => service.server.end("SIGTERM").then(restart),
    serverAndDatabase: () => Promise.all([service.killServer(), service.killDatabase()]).then(restart),
    machinesAndDatabase: async () => void (await Promise.all([service.machines.killAll(), service.killDatabase()])),
    all: () => service.killAll().then(restart),
  };
  const weights = ["server", "server", "server", "machine", "machine", "database", "database"];
  const names = [...weights, ...Object.keys(faults)];
  const done: Record<string, number> = {};
  while (Date.now() < deadline) {
    await sleep(500 + random() * 4_000);
    const name = names[Math.floor(random() * names.length)]!;
    done[name] = (done[name] ?? 0) + 1;
    await faults[name]!();
  }
  return done;
}

/** The last turns of a machine may still be lost to what was done at the end. */
async function untilCompleted(service: KillableService, agent: string): Promise<Turn> {
  for (let tries = 1; ; tries++) {
    const message = `are you there? ${agent}-last-${tries}`;
    const { turnId, events } = await converse(service.client, agent, message);
    if (checkTranscript(message, events) === "completed") return { agent, message, turnId, events };
    if (tries === 20) throw new Error(`${agent} does not answer any more`);
    await sleep(500);
  }
}

/** No message came to a runtime twice. */
async function checkHeard(service: KillableService, turns: Turn[]): Promise<void> {
  const messages = new Set(turns.map(({ message }) => message));
  const heard: string[] = [];
  for (const { id } of await service.machines.list()) {
    const file = join(service.config.dataFolder, "machines", id, ".local/state/messages");
    heard.push(...(await readFile(file, "utf8")).split("\n").filter((line) => messages.has(line)));
  }
  expect(heard.filter((line, index) => heard.indexOf(line) !== index)).toEqual([]);
}
