import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes that take messages while a turn runs, each as a process of this host, with the demonstration model.

let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start({}, { runtimes, packages: await guestPackages() });
  client = service.client;
});
afterAll(() => service[Symbol.asyncDispose]());

async function send(agent: string, message: string, whenBusy: string) {
  const response = await client.fetch("POST", `/agents/${agent}/chat`, {
    message,
    whenBusy,
    include: ["status", "tools"],
  });
  expect(response.status).toBe(200);
  const events: TurnEvent[] = [];
  const read = async () => {
    for await (const { event } of eventsOf(response)) events.push(event);
  };
  return {
    placed: response.headers.get("x-berth-placed"),
    turnId: response.headers.get("x-turn-id"),
    events,
    end: read(),
  };
}

const textOf = (events: TurnEvent[]) =>
  events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");

const steerable = runtimes.filter(({ abilities }) => abilities.steer === true).map(({ name }) => name);

describe.each(steerable)("%s", (runtime) => {
  const agent = `on-${runtime}`;
  let home: string;

  beforeAll(async () => {
    const before = await service.server.machines.list();
    await client.createAgent(agent, { runtime });
    const made = (await service.server.machines.list()).find(({ id }) => before.every((each) => each.id !== id));
    home = join(service.config.dataFolder, "machines", made!.id);
  });

  test("a message reaches a turn that runs a command, and the turn answers it", async () => {
    const first = await send(
      agent,
      "run: touch began; while [ ! -e released ]; do sleep 0.1; done; echo over",
      "queue",
    );
    await expect
      .poll(
        () =>
          readFile(join(home, "began")).then(
            () => true,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true);
    const second = await send(agent, "Please remember the word heron.", "steer");
    expect([second.placed, second.turnId]).toEqual(["steered", first.turnId]);
    await mkdir(join(home, "released"));
    await Promise.all([first.end, second.end]);
    expect(first.events.at(-1)!.type).toBe("response.completed");
    expect(textOf(first.events)).toContain("heron");
    expect(first.events.filter(({ type }) => type === "response.steered")).toHaveLength(1);
    expect(textOf(second.events)).toContain("heron");
  });

  test("the reason of a denied approval reaches the agent", async () => {
    await client.call("PATCH", `/agents/${agent}`, { permissions: { execute: "ask" } });
    const turn = await send(agent, "run: date", "queue");
    const open = async () => (await client.call("GET", `/approvals?agent=${agent}`)).body.data;
    await expect.poll(async () => (await open()).length, { timeout: 60_000 }).toBe(1);
    const path = `/agents/${agent}/turns/${turn.turnId}/approvals/${(await open())[0].id}`;
    await client.call("POST", path, { decision: "deny", message: "The clock is wrong, use the osprey." });
    await turn.end;
    expect(turn.events.at(-1)!.type).toBe("response.completed");
    expect(turn.events.filter(({ type }) => type === "response.steered")).toMatchObject([
      { message: "I denied this: The clock is wrong, use the osprey." },
    ]);
    expect(textOf(turn.events)).toContain("osprey");
    await client.call("PATCH", `/agents/${agent}`, { permissions: {} });
  });

  test("the next turn of the same process is an ordinary one", async () => {
    const next = await send(agent, "Good morning.", "steer");
    expect(next.placed).toBe("started");
    await next.end;
    expect(textOf(next.events)).toContain("Good morning.");
    expect(next.events.at(-1)!.type).toBe("response.completed");
  });
});
