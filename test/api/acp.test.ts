import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import {
  type ClientContext,
  type ContentBlock,
  client,
  methods,
  ndJsonStream,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// `berth acp` with an editor's side of the protocol's own SDK, against the real service.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));
let service: ScriptedService;

beforeAll(async () => {
  // The tool's address outlives a restart of the server.
  service = await ScriptedService.start({ port: await freePort() });
  for (const name of ["ada", "bob", "eve"]) await service.client.createAgent(name);
});
afterAll(() => service[Symbol.asyncDispose]());

/** An editor that has started `berth acp`. */
class Editor implements AsyncDisposable {
  readonly updates: SessionUpdate[] = [];
  readonly agent: ClientContext;
  readonly #child: ChildProcess;
  errors = "";

  constructor(name: string, { url, key }: Pick<TestClient, "url" | "key"> = service.client, options: string[] = []) {
    const env = { PATH: process.env.PATH, BERTH_URL: url, BERTH_API_KEY: key };
    this.#child = spawn(launcher, ["acp", ...options, name], { env });
    this.#child.stderr!.on("data", (data: Buffer) => {
      this.errors += data.toString();
    });
    const output = Readable.toWeb(this.#child.stdout!) as ReadableStream<Uint8Array>;
    this.agent = client({ name: "editor" })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.updates.push(params.update);
      })
      .connect(ndJsonStream(Writable.toWeb(this.#child.stdin!), output)).agent;
  }

  async open(): Promise<string> {
    await this.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
    return (await this.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] })).sessionId;
  }

  prompt(sessionId: string, text: string | ContentBlock[]) {
    const prompt = typeof text === "string" ? [{ type: "text" as const, text }] : text;
    return this.agent.request(methods.agent.session.prompt, { sessionId, prompt });
  }

  /** The texts of one kind of update, joined. */
  said(kind: "agent_message_chunk" | "user_message_chunk" = "agent_message_chunk"): string {
    return this.updates
      .map((update) => (update.sessionUpdate === kind && update.content.type === "text" ? update.content.text : ""))
      .join("");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.stdin!.end();
    await ended;
  }
}

test("a prompt is answered as it is said, with its tools", async () => {
  await using editor = new Editor("ada");
  const { agentCapabilities } = await editor.agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: {},
  });
  expect(agentCapabilities).toMatchObject({ loadSession: true, promptCapabilities: { image: false } });
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

test("attached files go along as text, and pictures are refused", async () => {
  await using editor = new Editor("ada");
  const session = await editor.open();
  await editor.prompt(session, [
    { type: "text", text: "Look:" },
    { type: "resource", resource: { uri: "file:///a.md", text: "```x```" } },
    { type: "resource_link", uri: "file:///b.md", name: "b.md" },
  ]);
  expect(editor.said()).toBe("Look:\n\nfile:///a.md:\n\n````\n```x```\n````\n\n[b.md](file:///b.md)");
  const picture = [{ type: "image" as const, data: "AAAA", mimeType: "image/png" }];
  await expect(editor.prompt(session, picture)).rejects.toThrow("An image cannot be sent");
});

test("a turn is cancelled", async () => {
  await using editor = new Editor("bob");
  const session = await editor.open();
  const prompt = editor.prompt(session, "hang");
  await expect.poll(() => latestStatus("bob")).toBe("running");
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: session });
  expect(await prompt).toEqual({ stopReason: "cancelled" });
});

test("a session is listed and loaded, with what was said before", async () => {
  await service.client.ask("eve", "first words");
  await service.client.ask("eve", "tool");
  await using editor = new Editor("eve");
  const sessionId = await editor.open();
  const { sessions } = await editor.agent.request(methods.agent.session.list, {});
  expect(sessions).toMatchObject([{ sessionId, title: "eve" }]);
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
  await expect(editor.agent.request(methods.agent.session.load, ended)).rejects.toThrow("another conversation");
});

test("a returning editor follows the running turn", async () => {
  {
    await using first = new Editor("bob");
    const session = await first.open();
    first.prompt(session, "count 30 100").catch(() => {});
    await expect.poll(() => first.said()).toContain("3 ");
  }
  await using second = new Editor("bob");
  const sessionId = await second.open();
  await second.agent.request(methods.agent.session.load, { sessionId, cwd: "/", mcpServers: [] });
  await expect(second.prompt(sessionId, "hello")).rejects.toThrow("is answering another message");
  await expect.poll(() => second.said()).toMatch(/1 2 3 4 .*30 $/);
});

test("a new session begins a new conversation where that is asked for", async () => {
  await using first = new Editor("eve");
  const before = await first.open();
  await using second = new Editor("eve", service.client, ["--reset"]);
  expect(await second.open()).not.toBe(before);
  await expect(first.prompt(before, "hello")).rejects.toThrow("another conversation");
});

test("a refusal is reported", async () => {
  await using nobody = new Editor("nobody");
  await expect(nobody.open()).rejects.toThrow("There is no agent nobody");
  await using stranger = new Editor("ada", { url: service.client.url, key: "berth_sk_wrong" });
  await expect(stranger.open()).rejects.toThrow("berth login");
  const other = await newKey(service.client, { kind: "agent", agents: ["bob"] });
  await using outside = new Editor("ada", other);
  await expect(outside.open()).rejects.toThrow("not for the agent ada");
  await using failing = new Editor("ada");
  const session = await failing.open();
  await expect(failing.prompt(session, "crash")).rejects.toThrow("The runtime ended");
});

test("an external agent key talks to its agent, and reads no conversation", async () => {
  const key = await newKey(service.client, { kind: "agent", agents: ["bob"] });
  await using editor = new Editor("bob", key);
  const sessionId = await editor.open();
  expect(await editor.prompt(sessionId, "hello there")).toEqual({ stopReason: "end_turn" });
  editor.updates.length = 0;
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd: "/", mcpServers: [] });
  expect(editor.updates).toEqual([]);
});

test("a restart of the server in mid-turn loses nothing", async () => {
  await using editor = new Editor("ada");
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
