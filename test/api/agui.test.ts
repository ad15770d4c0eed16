import { HttpAgent } from "@ag-ui/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedService } from "../support/scripted-service.ts";

// The official client of AG-UI, which checks the order of events.

let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

function front(): HttpAgent {
  const { url, key } = service.client;
  return new HttpAgent({ url: `${url}/agents/ada/agui`, headers: { authorization: `Bearer ${key}` } });
}

async function run(agent: HttpAgent, content: string) {
  agent.addMessage({ id: String(Math.random()), role: "user", content });
  const types: string[] = [];
  const { newMessages } = await agent.runAgent({}, { onEvent: ({ event }) => void types.push(event.type) });
  return { newMessages, types };
}

test("a run is a turn, whose reply is a message", async () => {
  const { newMessages, types } = await run(front(), "count 20 10");
  expect(newMessages).toMatchObject([{ role: "assistant", content: expect.stringMatching(/^1 2 .*20 $/) }]);
  expect([types[0], types.at(-1)]).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
});

test("tool calls and their results are sent", async () => {
  const { newMessages } = await run(front(), "tool");
  expect(newMessages).toMatchObject([
    { role: "assistant", toolCalls: [{ id: "call-1", function: { name: "Bash", arguments: '{"command":"date"}' } }] },
    { role: "tool", toolCallId: "call-1" },
    { role: "assistant", content: "done" },
  ]);
});

test("a thread continues after a run that called a tool", async () => {
  const agent = front();
  await run(agent, "tool");
  const { newMessages } = await run(agent, "count 3");
  expect(newMessages).toMatchObject([{ role: "assistant", content: "1 2 3 " }]);
});

test("a turn that fails is a run that fails", async () => {
  expect(await run(front(), "crash")).toEqual({ newMessages: [], types: ["RUN_STARTED", "RUN_ERROR"] });
});

test("unsupported input is refused", async () => {
  const send = async (fields: object) => {
    const asked = { threadId: "t", runId: "r", messages: [{ role: "user", content: "hello" }], ...fields };
    return (await service.client.call("POST", "/agents/ada/agui", asked)).status;
  };
  expect(await send({ tools: [{ name: "colour", description: "", parameters: {} }] })).toBe(400);
  expect(await send({ messages: [{ role: "assistant", content: "hello" }] })).toBe(400);
  expect(await send({ messages: [{ role: "user", content: [{ type: "image" }] }] })).toBe(400);
  expect(await send({ messages: [] })).toBe(400);
});
