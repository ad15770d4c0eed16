import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentState, DesiredState } from "../agents/agent.ts";
import type { MachinePhase } from "../machines/spec.ts";
import { type Action, plan } from "./plan.ts";

// An agent and its machine in memory. The actions of `plan` are carried out on them as the reconciler does, while calls and
// accidents happen at random in between: thousands of lives in a second. The same with a real server, machines and
// database is in test/faults/sequences.test.ts.

type Agent = Pick<AgentState, "desired" | "status" | "hasMachine" | "restarts" | "restores" | "snapshot">;

const absent = { phase: "absent", restarts: 0, restores: 0 } as const;

class World {
  agent: Agent | null = {
    desired: "running",
    status: "provisioning",
    hasMachine: false,
    restarts: 0,
    restores: 0,
    snapshot: null,
  };
  machine: { phase: MachinePhase; restarts: number; restores: number } = { ...absent };
  /** Counts the starts from a new memory. Lost when the machine boots from its disk. */
  memory = 0;
  /** Identifies the disk: 0 is none, and each new one is another. */
  disk = 0;
  disks = 0;

  /** One step of the reconciler. Answers what it did. */
  step(): Action["do"] {
    if (!this.agent) return "settle";
    const action = plan(this.agent, this.machine);
    switch (action.do) {
      case "remove":
        this.machine = { ...absent };
        this.agent = null;
        break;
      case "fail":
        this.agent.status = "failed";
        break;
      case "suspend":
        if (this.machine.phase === "running") this.machine.phase = "suspended";
        this.agent.status = "suspended";
        break;
      case "start":
        this.#start(action.from);
        break;
      default:
    }
    return action.do;
  }

  #start(from: string): void {
    const { phase } = this.machine;
    if (from === "run") expect(phase).toBe("running");
    if (from === "memory") expect(phase).toBe("suspended");
    if (from === "disk") {
      expect(["running", "suspended", "stopped"]).toContain(phase);
      this.memory++;
    }
    if (from === "nothing") {
      expect([phase, this.agent!.hasMachine]).toEqual(["absent", false]);
      this.disk = ++this.disks;
      this.memory++;
    }
    if (from === "snapshot") {
      expect(this.agent!.snapshot).not.toBeNull();
      this.disk = ++this.disks;
      this.memory++;
    }
    const { restarts, restores } = this.agent!;
    this.machine = { phase: "running", restarts, restores };
    Object.assign(this.agent!, { status: "ready", hasMachine: true, snapshot: null });
  }

  get isSettled(): boolean {
    if (!this.agent) return this.machine.phase === "absent";
    const { desired, status } = this.agent;
    if (status === "failed") return true;
    return desired === "running"
      ? status === "ready" && this.machine.phase === "running"
      : status === "suspended" && this.machine.phase !== "running";
  }
}

/** An owner's possible actions, as `requireAllowed` and the rows allow them. */
const calls: Record<string, (world: World) => void> = {
  suspend: ({ agent }) => {
    if (agent && agent.desired !== "deleted" && agent.status !== "failed") agent.desired = "suspended";
  },
  message: ({ agent }) => {
    if (agent?.desired === "suspended") agent.desired = "running";
  },
  resume: ({ agent }) => {
    if (!agent || agent.desired === "deleted") return;
    if (agent.status === "failed") Object.assign(agent, { status: agent.hasMachine ? "suspended" : "provisioning" });
    agent.desired = "running";
  },
  restart: ({ agent }) => {
    if (!agent || agent.desired === "deleted") return;
    Object.assign(agent, { desired: "running", status: "provisioning", restarts: agent.restarts + 1 });
  },
  restartEmpty: ({ agent }) => {
    if (!agent || agent.desired === "deleted") return;
    const changes = { desired: "running", status: "provisioning", restarts: agent.restarts + 1, hasMachine: false };
    Object.assign(agent, { ...changes, snapshot: null });
  },
  rollBack: ({ agent }) => {
    if (!agent || agent.desired === "deleted") return;
    const changes = { desired: "running", status: "provisioning", restores: agent.restores + 1, snapshot: "kept" };
    Object.assign(agent, changes);
  },
  remove: ({ agent }) => {
    if (agent) Object.assign(agent, { desired: "deleted" satisfies DesiredState, status: "deleting" });
  },
};

/** Events of the machines. */
const accidents: Record<string, (world: World) => void> = {
  killed: ({ machine }) => {
    if (machine.phase === "running") machine.phase = "stopped";
  },
  memoryLost: ({ machine }) => {
    if (machine.phase === "suspended") machine.phase = "stopped";
  },
  folderLost: (world) => {
    world.machine = { ...absent };
    world.disk = 0;
  },
  outOfReach: ({ machine }) => {
    if (machine.phase === "running") machine.phase = "lost";
  },
  backInReach: ({ machine }) => {
    if (machine.phase === "lost") machine.phase = "running";
  },
};

const everything = { ...calls, ...accidents };
const events = fc.array(fc.constantFrom(...Object.keys(everything), "step"), { minLength: 1, maxLength: 40 });

test("whatever is asked and happens, an agent's desired state is reached in three steps, or it has failed", () => {
  fc.assert(
    fc.property(events, (names) => {
      const world = new World();
      for (const name of names) {
        if (name === "step") world.step();
        else everything[name]!(world);
        const settling = copyOf(world);
        for (let steps = 0; !settling.isSettled && steps < 3; steps++) settling.step();
        expect(settling.isSettled).toBe(true);
      }
    }),
    { numRuns: 5_000 },
  );
});

test("a machine that has run is never replaced by an empty one, unless its owner chose that", () => {
  fc.assert(
    fc.property(events, (names) => {
      const world = new World();
      let mayBeNew = true;
      for (const name of names) {
        const before = world.disks;
        if (name === "step") world.step();
        else everything[name]!(world);
        if (name === "restartEmpty" || name === "rollBack") mayBeNew = true;
        if (world.disks > before) {
          expect(mayBeNew).toBe(true);
          mayBeNew = false;
        }
      }
    }),
    { numRuns: 5_000 },
  );
});

test("a machine that may run out of reach is never started a second time", () => {
  fc.assert(
    fc.property(events, (names) => {
      const world = new World();
      for (const name of names) {
        const { phase } = world.machine;
        if (name === "step") {
          const did = world.step();
          if (phase === "lost") expect(did).not.toBe("start");
        } else everything[name]!(world);
      }
    }),
    { numRuns: 5_000 },
  );
});

test("an agent without a machine's folder fails with a way out", () => {
  const agent: Agent = {
    desired: "running",
    status: "suspended",
    hasMachine: true,
    restarts: 0,
    restores: 0,
    snapshot: null,
  };
  expect(plan(agent, absent)).toMatchObject({
    do: "fail",
    error: { code: "machine_lost", message: expect.stringMatching(/machine=new/) },
  });
  // The rollback of long ago is not done again.
  expect(plan({ ...agent, restores: 1 }, absent)).toMatchObject({ do: "fail" });
  expect(plan({ ...agent, restores: 1, snapshot: "kept" }, absent)).toEqual({ do: "start", from: "snapshot" });
  const chosen: Agent = { ...agent, status: "provisioning", hasMachine: false, restarts: 1 };
  expect(plan(chosen, absent)).toEqual({ do: "start", from: "nothing" });
});

function copyOf(world: World): World {
  return Object.assign(new World(), structuredClone({ ...world }));
}
