import { randomUUID } from "node:crypto";
import { chmod, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentState } from "../../src/agents/agent.ts";
import { AgentStore } from "../../src/agents/store.ts";
import { usualResources } from "../../src/contract/agents.ts";
import { BerthError } from "../../src/contract/errors.ts";
import { type GuestSecrets, noSecrets } from "../../src/contract/guest.ts";
import { noLimits } from "../../src/contract/limits.ts";
import { allAllowed } from "../../src/contract/permissions.ts";
import { type Database, migrate, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { HostFileStore } from "../../src/hosts/host-file-store.ts";
import { HostFiles } from "../../src/hosts/host-files.ts";
import { HungGuests } from "../../src/lifecycle/hung-guests.ts";
import { Idleness } from "../../src/lifecycle/idleness.ts";
import { Lifecycle, openSlots } from "../../src/lifecycle/lifecycle.ts";
import { Reconciler } from "../../src/lifecycle/reconciler.ts";
import { LifecycleStore } from "../../src/lifecycle/store.ts";
import { Machines } from "../../src/machines/machines.ts";
import type { MachineSpec } from "../../src/machines/spec.ts";
import { newFolder } from "../support/config.ts";
import { contextWith } from "../support/context.ts";
import { machineSpec } from "../support/machine-spec.ts";
import { ScriptedDriver } from "../support/scripted-driver.ts";
import { scriptedRuntime } from "../support/scripted-runtime.ts";
import { silent, startFrom } from "../support/start-machine.ts";

// A server that dies between any two steps of what it does to an agent; another then takes over. Steps are the calls
// that it makes to the database and to the machines: each may have been made or not when it dies.

let folder: string;
let postgres: EmbeddedPostgres;
let database: Database;
let driver: ScriptedDriver;

const accountId = randomUUID();
const faults: string[] = [];

beforeAll(async () => {
  folder = await newFolder();
  await chmod(folder, 0o711);
  postgres = await startEmbeddedPostgres(join(folder, "pg"));
  database = openDatabase(postgres.config, () => {});
  await migrate(database);
  await database.insertInto("accounts").values({ id: accountId, name: "tests" }).execute();
  driver = new ScriptedDriver(join(folder, "machines"), [scriptedRuntime("claude-code")]);
});
afterAll(async () => {
  await driver[Symbol.asyncDispose]();
  await database.destroy();
  await postgres.stop();
  await rm(folder, { recursive: true, maxRetries: 5 });
});

/** Where a server dies: at its n-th step. After that, nothing that it has begun ever comes back to it. */
class Death {
  readonly #at: number;
  readonly #met = Promise.withResolvers<void>();
  readonly met = this.#met.promise;
  readonly #calls = new Set<Promise<unknown>>();
  #steps = 0;
  #armed = false;

  constructor(at: number) {
    this.#at = at;
  }

  arm(): void {
    this.#armed = true;
  }

  async step(): Promise<void> {
    if (!this.#armed || ++this.#steps < this.#at) return;
    this.#met.resolve();
    await new Promise(() => {});
  }

  /** Resolves when what was asked of the database before the death is done: it was asked, and comes before what follows. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#calls);
  }

  /** The same thing, each of whose calls has a step before it and one after it. */
  at<Thing extends object>(thing: Thing): Thing {
    return new Proxy(thing, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const call = () => {
            const called = Reflect.apply(value, target, args) as unknown;
            if (target instanceof AgentStore || target instanceof LifecycleStore)
              this.#calls.add(Promise.resolve(called));
            return called;
          };
          if (name === "close") return call();
          return this.step()
            .then(call)
            .then(async (result) => {
              await this.step();
              return result;
            });
        };
      },
    });
  }
}

interface Server {
  lifecycle: Lifecycle;
  reconciler: Reconciler;
  machines: Machines;
}

test("where an agent's secrets cannot be read, a machine that wakes keeps its memory, and is adopted next time", async () => {
  const away = new BerthError("database_unavailable", "The database is not responding.");
  const [known, unknown] = [async () => noSecrets, () => Promise.reject(away)];
  // An adoption reads them before and once more in its course.
  const answers = [known, known, unknown, known, unknown];
  const machines = machinesWith(() => answers.shift()!());
  const spec = newSpec();
  const ensure = async () => machines.start(await startFrom(driver, spec), spec, silent);
  await ensure();
  await machines.suspend(spec.id);
  await expect(ensure()).rejects.toThrow(away);
  expect(await driver.observe(spec.id)).toMatchObject({ phase: "running" });
  expect(faults).toEqual([]);
  await ensure();
  expect(answers).toEqual([]);
  await machines.destroy(spec.id);
  await machines.close();
});

test("nobody is given a guest that awaits its identity", async () => {
  const spec = newSpec();
  const refused: unknown[] = [];
  // Called before the guest is connected, and once more when it is.
  let calls = 0;
  const machines = machinesWith(async () => {
    if (++calls === 2) await machines.guest(spec.id).catch((error) => refused.push(error.code));
    return noSecrets;
  });
  await machines.start(await startFrom(driver, spec), spec, silent);
  expect(refused).toEqual(["machine_lost"]);
  await (await machines.guest(spec.id)).startRuntime({});
  await machines.destroy(spec.id);
  await machines.close();
});

function machinesWith(secretsOf: () => Promise<GuestSecrets>): Machines {
  return new Machines({
    open: async () => driver,
    serveUplink: () => {},
    serveTemplateUplink: () => {},
    importFiles: async () => {},
    accountOf: () => null,
    turnOf: () => null,
    secretsOf,
    log: (message) => faults.push(message),
  });
}

function newSpec(): MachineSpec {
  return machineSpec(randomUUID(), { resources: usualResources(1024) });
}

/** Wakes an agent at the moment in which its sleep is being reported. */
class WakingStore extends LifecycleStore {
  override async change(
    id: string,
    generation: number,
    change: Parameters<LifecycleStore["change"]>[2],
  ): Promise<boolean> {
    if (change.status === "suspended") await this.wake(id);
    return super.change(id, generation, change);
  }
}

test("an agent that is woken when its machine has just been suspended runs, also where nobody asks again", async () => {
  const rows = new WakingStore(database, "here", 0);
  const server = serverUntil(new Death(Infinity), rows);
  const agent = newAgent();
  await server.lifecycle.recover();
  await made(server, agent);
  await server.lifecycle.suspend(agent.id);
  await expect.poll(async () => (await driver.observe(agent.id)).phase).toBe("running");
  await say(server.machines, agent.id, "and this");
  await server.lifecycle.delete(agent.id);
  server.reconciler.stop();
  await server.machines.close();
});

/** The server's work on agents' lives, up to its death. */
function serverUntil(death: Death, lifecycleRows = new LifecycleStore(database, "here", 0)): Server {
  const machines = new Machines({
    open: async () => death.at(driver),
    serveUplink: () => {},
    serveTemplateUplink: () => {},
    importFiles: async () => {},
    accountOf: () => null,
    turnOf: () => null,
    secretsOf: async () => noSecrets,
    log: () => {},
  });
  const context = contextWith({
    stores: {
      agents: death.at(new AgentStore(database, "here", 1_000)),
      lifecycle: death.at(lifecycleRows),
      accounts: { othersThan: async () => false },
    },
    machines,
    hostFiles: new HostFiles(new HostFileStore(database, "here")),
    timers: { idleCheck: async () => {} },
    config: { memoryMiB: 10_000, maximumAwake: 10, accountShare: 1, maximumWaiting: 10, waitMs: 10_000, idleMs: 0 },
    spares: { evict: async () => false },
    reserve: { isShort: async () => false },
    egress: { moves: () => false },
    metrics: { machine: () => {} },
    log: (message: string, fields: Record<string, unknown>) =>
      faults.push(`${message}: ${JSON.stringify(fields)} ${fields.error}`),
  });
  const parts = { slots: openSlots(context), reconciler: new Reconciler(context), idleness: new Idleness(context) };
  Object.assign(context, parts, { hungGuests: new HungGuests(context) });
  const lifecycle = new Lifecycle(context);
  Object.assign(context, { lifecycle });
  return { lifecycle, reconciler: parts.reconciler, machines };
}

function newAgent(): AgentState {
  const now = new Date();
  return {
    id: randomUUID(),
    accountId,
    personId: null,
    personName: null,
    name: `agent-${randomUUID().slice(0, 8)}`,
    runtime: "claude-code",
    model: null,
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
    private: false,
    retold: null,
    conversation: 1,
    resources: usualResources(1536),
    image: null,
    isHere: true,
    hasMachine: false,
    desired: "running",
    status: "provisioning",
    generation: 1,
    restarts: 0,
    restores: 0,
    snapshot: null,
    forkedFrom: null,
    privateSource: null,
    imported: null,
    isImporting: false,
    error: null,
    queueLength: 0,
    queueHeld: null,
    installSteps: [],
    createdAt: now,
    lastActiveAt: now,
  };
}

async function say(machines: Machines, id: string, message: string): Promise<void> {
  const guest = await machines.guest(id);
  for await (const events of guest.prompt({ turnId: randomUUID(), message, model: null, conversation: 1 })) {
    if (events.at(-1)!.event.type === "response.completed") return;
  }
  throw new Error("the turn did not end");
}

interface Operation {
  prepare: (server: Server, agent: AgentState) => Promise<unknown>;
  act: (lifecycle: Lifecycle, agent: AgentState) => Promise<unknown>;
  /** The possible states once another server has taken over. */
  expected: readonly (AgentState["status"] | "gone")[];
}

const make = (lifecycle: Lifecycle, agent: AgentState) => lifecycle.create(agent).then(() => lifecycle.ready(agent.id));

async function made({ lifecycle, machines }: Server, agent: AgentState): Promise<void> {
  await make(lifecycle, agent);
  await say(machines, agent.id, "remember this");
}

async function suspended(server: Server, agent: AgentState): Promise<void> {
  await made(server, agent);
  await server.lifecycle.suspend(agent.id);
}

const operations: Record<string, Operation> = {
  create: { prepare: async () => {}, act: make, expected: ["ready", "gone"] },
  suspend: { prepare: made, act: (lifecycle, { id }) => lifecycle.suspend(id), expected: ["ready", "suspended"] },
  wake: { prepare: suspended, act: (lifecycle, { id }) => lifecycle.ready(id), expected: ["ready", "suspended"] },
  restart: {
    prepare: made,
    act: async (lifecycle, { id }) => {
      await lifecycle.restart(id, false, randomUUID());
      await lifecycle.ready(id);
    },
    expected: ["ready"],
  },
  delete: { prepare: made, act: (lifecycle, { id }) => lifecycle.delete(id), expected: ["ready", "gone"] },
};

test.each(Object.keys(operations))(
  "a server that dies at any step of %s leaves nothing that the next cannot end",
  async (name) => {
    const { prepare, act, expected } = operations[name]!;
    const rows = new AgentStore(database, "here", 1_000);
    const outcomes = new Set<string>();
    let at = 1;
    for (let finished = false; !finished; at++) {
      const agent = newAgent();
      const death = new Death(at);
      const dying = serverUntil(death);
      await dying.lifecycle.recover();
      await prepare(dying, agent);
      death.arm();
      const end = act(dying.lifecycle, agent).then(() => true);
      end.catch(() => {});
      finished = await Promise.race([end, death.met.then(() => false)]);
      await dying.machines.close(); // As a dead process's connections are.
      await death.settled();

      const { lifecycle, reconciler, machines } = serverUntil(new Death(Infinity));
      await lifecycle.recover();
      const settled = async () => {
        const row = await rows.byId(agent.id);
        const status = row?.status ?? "gone";
        return (
          expected.includes(status) &&
          status === (row ? { running: "ready", suspended: "suspended", deleted: "-" }[row.desired] : "gone")
        );
      };
      await expect
        .poll(settled, { message: `${name}, step ${at}` })
        .toBe(true)
        .catch(async (error: unknown) => {
          console.error(await rows.byId(agent.id), await driver.observe(agent.id), faults);
          throw error;
        });

      const row = await rows.byId(agent.id);
      outcomes.add(row?.status ?? "gone");
      if (!row) expect((await machines.list()).map(({ id }) => id)).not.toContain(agent.id);
      else {
        await lifecycle.ready(agent.id);
        await say(machines, agent.id, "and this");
        const messages = await readFile(join(folder, "machines", agent.id, ".local/state/messages"), "utf8");
        expect(messages).toBe(name === "create" ? "and this\n" : "remember this\nand this\n");
        await lifecycle.delete(agent.id);
      }
      expect(driver.running).not.toContain(agent.id);
      reconciler.stop();
      await machines.close();
    }
    // Each operation has steps enough, and dying has made a difference.
    expect(at).toBeGreaterThan(8);
    expect([...outcomes].every((outcome) => (expected as readonly string[]).includes(outcome))).toBe(true);
  },
);
