import { methods } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { newKey } from "../support/accounts.ts";
import { Editor } from "../support/editor.ts";
import { png } from "../support/pictures.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// `berth acp` with an editor's side of the protocol's own SDK, against the real service.

let service: ScriptedService;

beforeAll(async () => {
  // The tool's address outlives a restart of the server.
  service = await ScriptedService.start({ port: await freePort() });
  for (const name of ["ada", "bob", "eve"]) await service.client.createAgent(name);
});
afterAll(() => service[Symbol.asyncDispose]());

test("a prompt is answered as it is said, with its tools", async () => {
  await using editor = new Editor(service.client, "ada");
  const { agentCapabilities } = await editor.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: {},
  });
  expect(agentCapabilities).toMatchObject({ loadSession: true, promptCapabilities: { image: true } });
  const session = await editor.open();
  expect(await editor.prompt(session, "count 20 10")).toEqual({ stopReason: "end_turn" });
  expect(editor.updates.length).toBeGreaterThan(3);
  expect(editor.said()).toMatch(/^1 2 3 .*20 $/);
  editor.updates.length = 0;
  await editor.prompt(session, "tool");
  expect(editor.updates).toMatchObject([
    { sessionUpdate: "tool_call", toolCallId: "call-1", kind: "execute", title: "Bash", rawInput: { command: "date" } },
    { sessionUpdate: "tool_call_update", toolCallId: "call-1", status: "completed" },
    { sessionUpdate: "agent_message_chunk", content: { text: "done" } },
  ]);
  expect(editor.errors).toBe("");
});

test("attached texts go along as text, and sound is refused", async () => {
  await using editor = new Editor(service.client, "ada");
  const session = await editor.open();
  await editor.prompt(session, [
    { type: "text", text: "Look:" },
    { type: "resource", resource: { uri: "file:///a.md", text: "```x```" } },
    { type: "resource_link", uri: "file:///b.md", name: "b.md" },
  ]);
  expect(editor.said()).toBe("Look:\n\nfile:///a.md:\n\n````\n```x```\n````\n\n[b.md](file:///b.md)");
  const sound = [{ type: "audio" as const, data: "AAAA", mimeType: "audio/wav" }];
  await expect(editor.prompt(session, sound)).rejects.toThrow("Sound cannot be sent");
  await expect(editor.prompt(session, [])).rejects.toThrow("no text, image or file");
});

test("images and files of a prompt reach the runtime and the machine, and a replay names them", async () => {
  await service.client.createAgent("seeing");
  await using editor = new Editor(service.client, "seeing");
  const session = await editor.open();
  await editor.prompt(session, [
    { type: "text", text: "see this" },
    { type: "image", data: png().toString("base64"), mimeType: "image/png", uri: "file:///home/me/shot%201.png" },
    { type: "resource", resource: { uri: "file:///a/b.bin", blob: "AAAA", mimeType: "application/octet-stream" } },
  ]);
  expect(editor.said()).toBe(JSON.stringify([["image/png", png().length]]));
  const [turn] = (await service.client.call("GET", "/agents/seeing/turns")).body.data;
  expect(turn.attachments).toMatchObject([
    { kind: "image", name: "shot 1.png" },
    { kind: "file", name: "b.bin", size: 3 },
  ]);
  const lying = [{ type: "image" as const, data: "AAAA", mimeType: "image/png" }];
  await expect(editor.prompt(session, lying)).rejects.toThrow("content.0: this is not an image");
  editor.updates.length = 0;
  await editor.agent.request(methods.agent.session.load, { sessionId: session, cwd: "/", mcpServers: [] });
  expect(editor.updates[0]).toMatchObject({ content: { text: "see this\n[shot 1.png]\n[b.bin]" } });
});

test("the editor decides about tools that the agent asks for", async () => {
  await service.client.createAgent("asking", { permissions: { execute: "ask" } });
  await using editor = new Editor(service.client, "asking");
  const session = await editor.open();
  await editor.prompt(session, "use execute make");
  editor.choice = "allow-always";
  await editor.prompt(session, "use execute make");
  await editor.prompt(session, "use execute make");
  expect([editor.said(), editor.asked]).toEqual(["not usedusedused", ["make", "make"]]);
});

test("a turn is cancelled", async () => {
  await using editor = new Editor(service.client, "bob");
  const session = await editor.open();
  const prompt = editor.prompt(session, "hang");
  await expect.poll(() => latestStatus("bob")).toBe("running");
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: session });
  expect(await prompt).toEqual({ stopReason: "cancelled" });
});

test("a session is listed and loaded, with what was said before", async () => {
  await service.client.ask("eve", "first words");
  await service.client.ask("eve", "tool");
  await using editor = new Editor(service.client, "eve");
  const sessionId = await editor.open();
  const { sessions } = await editor.agent.request(methods.agent.session.list, {});
  expect(sessions).toMatchObject([{ sessionId, title: "first words" }]);
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd: "/", mcpServers: [] });
  expect(editor.said("user_message_chunk")).toBe("first wordstool");
  expect(editor.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
    "user_message_chunk",
    ...Array(2).fill("agent_message_chunk"),
    "user_message_chunk",
    "tool_call",
    "tool_call_update",
    "agent_message_chunk",
  ]);
  const ended = { sessionId: "conversation-99", cwd: "/", mcpServers: [] };
  await expect(editor.agent.request(methods.agent.session.load, ended)).rejects.toThrow("no such conversation");
});

test("a returning editor follows the running turn, and its next message waits", async () => {
  {
    await using first = new Editor(service.client, "bob");
    const session = await first.open();
    first.prompt(session, "count 30 100").catch(() => {});
    await expect.poll(() => first.said()).toContain("3 ");
  }
  await using second = new Editor(service.client, "bob");
  const sessionId = await second.open();
  await second.agent.request(methods.agent.session.load, { sessionId, cwd: "/", mcpServers: [] });
  expect(await second.prompt(sessionId, "hello")).toMatchObject({ stopReason: "end_turn" });
  await expect.poll(() => second.said()).toMatch(/1 2 3 4 .*30 hello$/);
});

test("a new session begins a new conversation where that is asked for", async () => {
  await using first = new Editor(service.client, "eve");
  const before = await first.open();
  await using second = new Editor(service.client, "eve", ["--reset"]);
  const after = await second.open();
  expect(after).not.toBe(before);
  await second.prompt(after, "second");
  await first.prompt(before, "first");
  await second.prompt(after, "recall");
  expect(second.said()).toBe("secondsecond\nrecall\n");
  const { sessions } = await first.agent.request(methods.agent.session.list, {});
  expect(sessions.map(({ sessionId, title }) => [sessionId, title])).toEqual([
    [after, "second"],
    [before, "first words"],
  ]);
});

test("a refusal is reported", async () => {
  await using nobody = new Editor(service.client, "nobody");
  await expect(nobody.open()).rejects.toThrow("There is no agent nobody");
  await using stranger = new Editor({ url: service.client.url, key: "berth_sk_wrong" }, "ada");
  await expect(stranger.open()).rejects.toThrow("berth login");
  const other = await newKey(service.client, { kind: "agent", agents: ["bob"] });
  await using outside = new Editor(other, "ada");
  await expect(outside.open()).rejects.toThrow("not for the agent ada");
  await using failing = new Editor(service.client, "ada");
  const session = await failing.open();
  await expect(failing.prompt(session, "crash")).rejects.toThrow("The runtime ended");
});

test("an external agent key talks to its agent, and reads no conversation", async () => {
  const key = await newKey(service.client, { kind: "agent", agents: ["bob"] });
  await using editor = new Editor(key, "bob");
  const sessionId = await editor.open();
  expect(await editor.prompt(sessionId, "hello there")).toEqual({ stopReason: "end_turn" });
  editor.updates.length = 0;
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd: "/", mcpServers: [] });
  expect(editor.updates).toEqual([]);
});

test("a restart of the server in mid-turn loses nothing", async () => {
  await using editor = new Editor(service.client, "ada");
  await service.client.call("POST", "/agents/ada/restart?wait=ready");
  const session = await editor.open();
  const prompt = editor.prompt(session, "count 60 100");
  await expect.poll(() => editor.said()).toContain("5 ");
  await service.restart();
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  expect(editor.said()).toBe(Array.from({ length: 60 }, (_, index) => `${index + 1} `).join(""));
  expect(editor.errors).toContain("reconnecting");
});

async function latestStatus(name: string): Promise<string | undefined> {
  return (await service.client.call("GET", `/agents/${name}/turns`)).body.data[0]?.status;
}
