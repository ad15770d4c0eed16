import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { eventsOf, isToolEvent, messageNumberIn, type TestClient } from "../support/client.ts";
import { ModelProxy, systemOf } from "../support/model-proxy.ts";
import { modelOf, providersAt, realModels } from "../support/real-runtimes.ts";
import { VmService } from "../support/vm-service.ts";
import { runtimesInMachines } from "../support/warm-seed.ts";

// Each real runtime's whole life in a real machine, before a provider that records what it is sent.

let provider: DemoServer;
let proxy: ModelProxy;
let service: VmService;
let client: TestClient;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
  proxy = await new ModelProxy(provider.url).listen();
  service = await VmService.start(providersAt(proxy.url));
  client = service.client;
});
beforeEach(() => {
  proxy.requests.length = 0;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

describe.each(runtimesInMachines)("%s", { timeout: 1_200_000 }, (runtime) => {
  const agent = `of-${runtime}`;
  const model = modelOf(runtime);
  const name = model.split("/")[1];
  const instructions = `You are ${agent}. Speak of “ships” only. 🚢`;
  let failed = false;
  // After a failure the rest would only wait for an agent that is not there.
  beforeEach(({ skip }) => skip(failed));
  afterEach(({ task }) => {
    failed ||= task.result?.state === "fail";
  });

  test("it is a clone of its warm template, and answers with its model and its instructions", async () => {
    expect((await client.createAgent(agent, { runtime, model, instructions })).body).toMatchObject({ status: "ready" });
    expect((await service.record(await service.machineId(agent))).origin).toBe("clone");
    const { steps } = (await client.call("GET", `/agents/${agent}/install-status`)).body;
    expect(steps.map(({ name }: { name: string }) => name)).toEqual(["template", "disk", "machine", "runtime"]);
    expect(messageNumberIn(await client.ask(agent, "My cat is called Miez."))).toBe(1);
    await client.chat(agent, "How is the weather?");
    const third = await client.chat(agent, "What is she called?", ["usage"]);
    expect(messageNumberIn(third.text)).toBe(3);
    expect(JSON.stringify(proxy.asked.at(-1)!.body)).toContain("My cat is called Miez.");
    for (const { body } of proxy.asked) {
      expect(body.model).toBe(name);
      expect(systemOf(body)).toContain(instructions);
    }
    expect(third.events.at(-1)!.event).toMatchObject({ usage: { inputTokens: expect.any(Number) } });
    expect((await client.call("GET", `/agents/${agent}/ports`)).body).toEqual({ data: [] });
  });

  test("a tool call has its events and runs in the machine; what it wrote is there in the next turn", async () => {
    const reply = await client.chat(agent, "run: hostname > note.txt && cat note.txt", ["tools"]);
    const calls = reply.events.map(({ event }) => event).filter(isToolEvent);
    expect(calls[0]!.type).toBe("response.tool_call.started");
    expect(calls.at(-1)!.type).toBe("response.tool_call.completed");
    expect(JSON.stringify(calls.at(-1)!.output)).toContain(agent);
    expect(await client.ask(agent, "run: cat note.txt")).toContain(agent);
  });

  test("cancelling ends the turn and the command that runs, and the next turn is fine", async () => {
    const response = await client.fetch("POST", `/agents/${agent}/chat`, {
      message: "run: touch begun && sleep 12345",
      include: ["tools"],
    });
    const id = await service.machineId(agent);
    const types: string[] = [];
    for await (const { event } of eventsOf(response)) {
      types.push(event.type);
      if (!isToolEvent(event) || types.includes("cancelling")) continue;
      types.push("cancelling");
      const begun = async () => (await service.exec(id, "ls /home/agent/begun")).exitCode;
      await expect.poll(begun).toBe(0);
      await client.call("POST", `/agents/${agent}/turns/${response.headers.get("x-turn-id")}/cancel`);
    }
    expect(types.at(-1)).toBe("response.cancelled");
    expect(await client.ask(agent, "run: echo fine")).toContain("fine");
    const left = async () => (await service.exec(id, "pgrep -f '[s]leep 12345'")).stdout;
    await expect.poll(left).toBe("");
  });

  test("asleep it has no process; its next message wakes it with its conversation, files and programs", async () => {
    const id = await service.machineId(agent);
    await service.exec(id, "echo in memory > /dev/shm/note; (sleep 54321 &) >/dev/null 2>&1", "agent");
    const before = messageNumberIn(await client.ask(agent, "Count."));
    expect((await client.call("POST", `/agents/${agent}/suspend`)).body.status).toBe("suspended");
    expect(await service.pid(id)).toBeUndefined();
    const reply = await client.chat(agent, "Count.", ["status"]);
    expect(messageNumberIn(reply.text)).toBe(before + 1);
    expect((await service.record(id)).origin).toBe("wake");
    expect((await service.exec(id, "cat /dev/shm/note && pgrep -f 'sleep 54321'")).exitCode).toBe(0);
    expect(await client.ask(agent, "run: cat note.txt")).toContain(agent);
    await service.exec(id, "pkill -f 'sleep 54321'");
  });

  const slowStart = { timeout: 2_400_000 };
  test("a restart keeps files, conversation, model and instructions; a reset the files", slowStart, async () => {
    const before = messageNumberIn(await client.ask(agent, "Count."));
    await client.call("PATCH", `/agents/${agent}`, { instructions: "You are a gardener." });
    // The second meets what the first has just begun.
    for (const _ of [1, 2]) await client.call("POST", `/agents/${agent}/restart`);
    // The message waits for the machine, however long its runtime takes to start: OpenClaw minutes, under emulation.
    const after = await client.chat(agent, "Count.", ["status"]);
    expect(messageNumberIn(after.text)).toBe(before + 1);
    expect((await service.record(await service.machineId(agent))).origin).toBe("boot");
    expect(proxy.asked.at(-1)!.body.model).toBe(name);
    expect(systemOf(proxy.asked.at(-1)!.body)).toContain("You are a gardener.");
    await client.call("POST", `/agents/${agent}/conversation/reset`);
    expect(messageNumberIn(await client.ask(agent, "Count."))).toBe(1);
    expect(await client.ask(agent, "run: cat note.txt")).toContain(agent);
  });

  test("deleting leaves nothing", async () => {
    expect((await client.call("DELETE", `/agents/${agent}`)).status).toBe(204);
    expect((await client.call("GET", `/agents/${agent}/turns`)).status).toBe(404);
    expect(await service.server.machines.list()).toEqual([]);
  });
});
