import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Reply } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Random sequences of calls, faults and restarts, against a simple model of what must hold of an agent: which messages
// its conversation has, and which statuses it may have. `BERTH_SEQUENCES` sets how many are tried.

const sequences = Number(process.env.BERTH_SEQUENCES ?? 12);

let service: ScriptedService;
beforeAll(async () => {
  // Two places for three agents, so that they are in each other's way too.
  service = await ScriptedService.start({ maximumAwake: 2, waitMs: 30_000 });
});
afterAll(() => service[Symbol.asyncDispose]());

/** The expected state of one agent. */
interface Known {
  name: string;
  /** The lines that it must remember, each with whether it may have been lost with its turn. */
  messages: { text: string; certain: boolean }[];
}

class Model {
  readonly agents: Known[] = [];
  #count = 0;

  newName(): string {
    return `a${Date.now().toString(36)}-${this.#count++}`;
  }

  pick(index: number): Known | undefined {
    return this.agents[index % this.agents.length];
  }
}

type Step = { does: string; agent: number };

const steps: Record<string, (model: Model, agent: Known) => Promise<void>> = {
  async chat(_, agent) {
    const text = `message ${agent.messages.length}`;
    const reply = await chat(agent, text);
    remember(agent, text, reply);
  },
  async chatAndKill(_, agent) {
    const text = `count 30 10 ${agent.messages.length}`;
    const turn = chat(agent, text);
    await service.driver.killOneOf(service.driver.running);
    remember(agent, text, await turn);
  },
  async chatAndSuspend(_, agent) {
    const text = `message ${agent.messages.length}`;
    const suspension = service.client.call("POST", `/agents/${agent.name}/suspend`);
    const reply = await chat(agent, text);
    expect([200, 409]).toContain((await suspension).status);
    remember(agent, text, reply);
  },
  async suspend(_, agent) {
    const { status, body } = await service.client.call("POST", `/agents/${agent.name}/suspend`);
    // One whose machine was killed in that moment comes back instead.
    expect(status).toBe(200);
    expect(["suspended", "ready", "provisioning"]).toContain(body.status);
  },
  async resume(_, agent) {
    const { status, body } = await service.client.call("POST", `/agents/${agent.name}/resume?wait=ready`);
    expect([status, body.status]).toEqual([200, "ready"]);
  },
  async restart(_, agent) {
    const { status } = await service.client.call("POST", `/agents/${agent.name}/restart`);
    expect(status).toBe(200);
  },
  async kill() {
    await service.driver.killOneOf(service.driver.running);
  },
  async loseMemory() {
    await service.driver.killOneOf(service.driver.suspended);
  },
  async restartServer() {
    await service.restart();
  },
  async rebootHost() {
    await service.restart(async () => {
      for (const id of service.driver.running) service.driver.kill(id);
    });
  },
  async remove(model, agent) {
    expect((await service.client.call("DELETE", `/agents/${agent.name}`)).status).toBe(204);
    model.agents.splice(model.agents.indexOf(agent), 1);
    expect((await service.client.call("GET", `/agents/${agent.name}`)).status).toBe(404);
  },
};

/** An agent whose machine was lost for the third time may fail in the moment of its message; it is restarted then. */
async function chat({ name }: Known, text: string): Promise<Reply> {
  try {
    return await service.client.chat(name, text);
  } catch (error) {
    if (!String(error).includes('"agent_failed"')) throw error;
    expect((await service.client.restartAgent(name)).body.status).toBe("ready");
    return service.client.chat(name, text);
  }
}

function remember(agent: Known, text: string, reply: Reply): void {
  const last = reply.events.at(-1)!.event;
  expect(last.type).toMatch(/^response\.(completed|failed)$/);
  if (last.type === "response.failed") expect(last.error.code).toMatch(/machine_(lost|failed)/);
  agent.messages.push({ text, certain: last.type === "response.completed" });
}

/** A machine that is killed again and again in a short time makes its agent fail, which a restart mends. */
async function check(model: Model): Promise<void> {
  expect(service.driver.running.length).toBeLessThanOrEqual(2);
  for (const { name } of model.agents) {
    const { status, error } = (await service.client.call("GET", `/agents/${name}`)).body;
    if (status === "failed") {
      expect(["machine_lost", "machine_failed"]).toContain(error.code);
      expect((await service.client.restartAgent(name)).body.status).toBe("ready");
    } else {
      expect(["provisioning", "ready", "suspended"]).toContain(status);
    }
  }
}

/** Every agent answers, and remembers what it must. */
async function checkAll(model: Model): Promise<void> {
  await service.restart();
  for (const agent of model.agents) {
    const reply = await service.client.chat(agent.name, "recall");
    const last = reply.events.at(-1)!.event;
    expect([agent.name, last.type === "response.failed" ? last.error : last.type]).toEqual([
      agent.name,
      "response.completed",
    ]);
    const lines = reply.text.split("\n");
    let position = 0;
    for (const { text, certain } of agent.messages) {
      if (lines[position] === text) position++;
      else expect([agent.name, text, certain]).toEqual([agent.name, text, false]);
    }
    expect(lines[position]).toBe("recall");
    await service.client.call("DELETE", `/agents/${agent.name}`);
  }
  expect(await service.server.machines.list()).toEqual([]);
}

const step: fc.Arbitrary<Step> = fc.record({ does: fc.constantFrom(...Object.keys(steps)), agent: fc.nat(2) });

test("whatever is asked of agents and happens to them, none is stuck, lost or started twice", {
  timeout: 600_000,
}, async () => {
  const sequence = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (all) => {
    const model = new Model();
    for (const { does, agent } of all) {
      if (model.agents.length < 3) {
        const name = model.newName();
        expect((await service.client.call("POST", "/agents", { name })).status).toBe(201);
        model.agents.push({ name, messages: [] });
      }
      await steps[does]!(model, model.pick(agent)!);
      await check(model);
    }
    await checkAll(model);
  });
  await fc.assert(sequence, { numRuns: sequences, endOnFailure: true });
});
