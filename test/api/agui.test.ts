import { HttpAgent } from "@ag-ui/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { png } from "../support/pictures.ts";
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

test("images and files of a message reach the runtime and the machine", async () => {
  await service.client.createAgent("seeing");
  const bytes = { type: "data", value: png().toString("base64"), mimeType: "image/png" };
  const content = [
    { type: "text", text: "see this" },
    { type: "image", source: bytes },
    { type: "binary", data: "AAAA", mimeType: "application/pdf", filename: "../q3.pdf" },
  ];
  const asked = { threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content }] };
  const { status, body } = await service.client.call("POST", "/agents/seeing/agui", asked);
  expect(status).toBe(200);
  expect(body).toContain(JSON.stringify(JSON.stringify([["image/png", png().length]])));
  const [turn] = (await service.client.call("GET", "/agents/seeing/turns")).body.data;
  expect(turn.attachments).toMatchObject([
    { kind: "image", name: "image-1.png" },
    { kind: "file", name: "q3.pdf" },
  ]);
});

test("unsupported input is refused", async () => {
  const send = async (fields: object) => {
    const asked = { threadId: "t", runId: "r", messages: [{ role: "user", content: "hello" }], ...fields };
    return (await service.client.call("POST", "/agents/ada/agui", asked)).status;
  };
  expect(await send({ tools: [{ name: "colour", description: "", parameters: {} }] })).toBe(400);
  expect(await send({ messages: [{ role: "assistant", content: "hello" }] })).toBe(400);
  expect(await send({ messages: [{ role: "user", content: [{ type: "image" }] }] })).toBe(400);
  const url = { type: "url", value: "http://169.254.169.254/", mimeType: "image/png" };
  expect(await send({ messages: [{ role: "user", content: [{ type: "image", source: url }] }] })).toBe(400);
  const lying = { type: "binary", data: "AAAA", mimeType: "image/png" };
  expect(await send({ messages: [{ role: "user", content: [lying] }] })).toBe(400);
  expect(await send({ messages: [] })).toBe(400);
});
