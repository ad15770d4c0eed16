import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { messageNumberIn, type Reply } from "../support/client.ts";
import { VmService } from "../support/vm-service.ts";

// Two real agents and one place: each message has one of them suspended and the other woken. Meanwhile their machines are
// killed and the server is started again. `BERTH_SOAK_SECONDS` sets for how long.

const seconds = Number(process.env.BERTH_SOAK_SECONDS ?? 60);
const names = ["ada", "bob"];

let service: VmService;
beforeAll(async () => {
  service = await VmService.start({ maximumAwake: 1 });
  for (const name of names) await service.client.createAgent(name);
});
afterAll(() => service[Symbol.asyncDispose]());

/** An agent's messages, as far as it must remember them. */
const told = new Map(names.map((name) => [name, { least: 0, most: 0 }]));

function expectWhole({ events }: Reply): void {
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
}

async function talk(name: string): Promise<void> {
  const { turnId, events } = await service.client.chat(name, "Count.", ["status", "tools", "usage", "reasoning"]);
  const reply = await service.client.events(name, turnId);
  expectWhole(reply);
  expect(reply.events).toEqual(events);
  const count = told.get(name)!;
  count.most += 1;
  const last = reply.events.at(-1)!.event;
  if (last.type === "response.failed") {
    expect(last.error.code).toMatch(/^machine_(lost|failed)$/);
    return;
  }
  expect(last.type).toBe("response.completed");
  const number = messageNumberIn(reply.text);
  expect(number).toBeGreaterThan(count.least);
  expect(number).toBeLessThanOrEqual(count.most);
  count.least = number;
}

/** A machine that runs is killed, in whatever it does. */
async function kill(): Promise<void> {
  for (const { id } of await service.server.machines.list()) {
    const pid = await service.pid(id);
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  }
}

test("agents that share one place, are killed and lose their server forget nothing that was answered", async () => {
  const end = Date.now() + seconds * 1000;
  for (let round = 0; Date.now() < end; round++) {
    const name = names[round % names.length]!;
    if (round % 7 === 6) {
      const turn = talk(name);
      await sleep(Math.random() * 1_500);
      await kill();
      await turn;
    } else if (round % 11 === 10) {
      await service.restart();
      await talk(name);
    } else {
      await talk(name);
    }
    for (const each of names) {
      const { status } = (await service.client.call("GET", `/agents/${each}`)).body;
      if (status === "failed") await service.client.restartAgent(each);
    }
  }
  for (const name of names) await talk(name);
  const running = [];
  for (const { id } of await service.server.machines.list()) running.push(await service.pid(id));
  expect(running.filter((pid) => pid !== undefined)).toHaveLength(1);
}, 600_000);
