import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { usualProvider } from "../../src/providers/directory.ts";
import { eventsOf, isToolEvent, messageNumberIn, type TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy, systemOf } from "../support/model-proxy.ts";
import { providersAt, runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes, each as a process of this host, before a provider that records what it is sent: all behave the
// same to a client.

const models = ["claude-sonnet-4-5", "a-model-that-nobody-knows", "gpt-4o", "gpt-5", "gemini-3-pro-preview"];
const knownModels = {
  anthropic: "anthropic/claude-sonnet-4-5",
  openai: "openai/gpt-5",
  google: "google/gemini-3-pro-preview",
};
let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  provider = await DemoServer.start(models);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(providersAt(proxy.url), { runtimes, packages: await guestPackages() });
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

/** A runtime over one provider's API, with a model that it knows and one that it does not. */
const cases = runtimes.flatMap(({ name, wires }) =>
  [...new Set(wires.map(usualProvider))].map((api) => ({
    name: `${name} over ${api}`,
    agent: `${name}-${api}`,
    runtime: name,
    known: knownModels[api],
    unknown: `${api}/a-model-that-nobody-knows`,
  })),
);

/** An answer of Anthropic's that thinks before it speaks. */
const thinking = [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Let me " } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "see." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2ln" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Done." } },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

/** The same of Google's, which begins with a title. */
const geminiThinking = [
  { parts: [{ text: "**Seeing**\nLet me ", thought: true }] },
  { parts: [{ text: "Let me see.", thought: true }] },
  { parts: [{ text: "Done." }], finishReason: "STOP" },
]
  .map(({ parts, finishReason }) => ({
    candidates: [{ content: { role: "model", parts }, finishReason }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9, thoughtsTokenCount: 9 },
  }))
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .join("");

describe.each(cases)("$name", ({ agent, runtime, known, unknown }) => {
  const instructions = `You are ${agent}. Speak of “ships” only. 🚢`;

  beforeAll(async () => {
    const created = await client.createAgent(agent, { runtime, model: known, instructions });
    expect(created.body).toMatchObject({ status: "ready", runtime, model: known, instructions });
  });

  test("model and instructions reach the provider in every call, and the conversation continues", async () => {
    await client.chat(agent, "My cat is called Miez.");
    await client.chat(agent, "How is the weather?");
    const third = await client.chat(agent, "What is she called?", ["usage"]);
    expect(third.text).toContain("Your message 3 of this conversation was: “What is she called?”");
    expect(JSON.stringify(proxy.asked.at(-1)!.body)).toContain("My cat is called Miez.");
    expect(proxy.asked.length).toBeGreaterThanOrEqual(3);
    for (const { body } of proxy.asked) {
      expect(`${known.split("/")[0]}/${body.model}`).toBe(known);
      expect(systemOf(body)).toContain(instructions);
    }
    const last = third.events.at(-1)!.event;
    expect(last).toMatchObject({ type: "response.completed", usage: { inputTokens: expect.any(Number) } });
    if (last.type === "response.completed") expect(last.usage!.inputTokens).toBeGreaterThan(1000);
  });

  test("a message that begins with a slash is text, not a command of the runtime", async () => {
    const before = await client.ask(agent, "My dog is called Rex.");
    const number = messageNumberIn(before)!;
    const messages = [
      "/clear",
      " /compact",
      "/help",
      "/new",
      "/reset",
      "/status",
      "/model demo",
      "/init",
      "//clear",
      "/",
      "What are /status, /think high and /new?",
    ];
    for (const [index, message] of messages.entries()) {
      const reply = await client.ask(agent, message);
      expect([message, messageNumberIn(reply)]).toEqual([message, number + 1 + index]);
      expect(reply).toContain(message.trim());
    }
    expect(JSON.stringify(proxy.asked.at(-1)!.body)).toContain("My dog is called Rex.");
  });

  test("a tool call has its events, and what it wrote is there in the next turn", async () => {
    const reply = await client.chat(agent, "run: echo kept > note.txt && cat note.txt", ["tools"]);
    const calls = reply.events.map(({ event }) => event).filter(isToolEvent);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(1);
    expect(calls[0]!.type).toBe("response.tool_call.started");
    expect(calls.at(-1)!.type).toBe("response.tool_call.completed");
    expect(calls.find(({ name }) => name)!.name).toMatch(/bash|exec|shell/i);
    expect(JSON.stringify(calls.map(({ input }) => input))).toContain("echo kept > note.txt");
    expect(JSON.stringify(calls.at(-1)!.output)).toContain("kept");
    expect(reply.text).toContain("It printed:\n\n```\nkept");
    expect(await client.ask(agent, "run: cat note.txt")).toContain("kept");
  });

  test.skipIf(agent.endsWith("-openai"))("a model's thoughts are sent if they are requested", async () => {
    const answer = agent.endsWith("-google") ? geminiThinking : thinking;
    proxy.fault = () => ({ status: 200, headers: { "content-type": "text/event-stream" }, text: answer });
    const { events, text } = await client.chat(agent, "Think.", ["reasoning"]).finally(() => {
      proxy.fault = () => null;
    });
    const thoughts = events.map(({ event }) => (event.type === "response.reasoning_text.delta" ? event.delta : ""));
    expect(thoughts.join("")).toContain("Let me see.");
    expect(text).toBe("Done.");
  });

  test("what stands for a secret is in the environment of its commands, at once", async () => {
    const hosts = ["api.example.com"];
    for (const name of ["TOKEN", "SECOND_TOKEN"]) {
      const set = await client.call("PUT", `/agents/${agent}/secrets/${name}`, { value: "hush", hosts });
      const text = await client.ask(agent, `run: echo "it is $${name}"`);
      expect(text).toContain(`it is ${set.body.placeholder}`);
    }
  });

  test("a changed model and changed instructions hold from the next turn on, in the same conversation", async () => {
    const before = await client.ask(agent, "Count.");
    await client.call("PATCH", `/agents/${agent}`, { model: unknown, instructions: "You are a gardener." });
    proxy.requests.length = 0;
    const after = await client.ask(agent, "Count.");
    expect(messageNumberIn(after)).toBe(messageNumberIn(before) + 1);
    for (const { body } of proxy.asked) {
      expect(body.model).toBe("a-model-that-nobody-knows");
      expect(systemOf(body)).toContain("You are a gardener.");
      expect(systemOf(body)).not.toContain("ships");
    }
    await client.call("PATCH", `/agents/${agent}`, { model: "demo/demo" });
    proxy.requests.length = 0;
    expect(messageNumberIn(await client.ask(agent, "Count."))).toBe(messageNumberIn(after) + 1);
    expect(proxy.asked).toEqual([]);
    await client.call("PATCH", `/agents/${agent}`, { model: unknown });
  });

  test("cancelling ends a command that runs, and the next turn is fine", async () => {
    const begun = join(service.config.dataFolder, `begun-${agent}`);
    const response = await client.fetch("POST", `/agents/${agent}/chat`, {
      message: `run: touch ${begun} && tail -f /dev/null`,
      include: ["tools"],
    });
    const turnId = response.headers.get("x-turn-id");
    const types: string[] = [];
    for await (const { event } of eventsOf(response)) {
      types.push(event.type);
      if (isToolEvent(event) && !types.includes("cancelling")) {
        types.push("cancelling");
        await expect.poll(() => stat(begun).catch(() => null)).not.toBeNull();
        await client.call("POST", `/agents/${agent}/turns/${turnId}/cancel`);
      }
    }
    expect(types.at(-1)).toBe("response.cancelled");
    expect(await client.ask(agent, "run: echo fine")).toContain("fine");
  });

  test("a runtime that hangs is ended by a cancel, and the next turn is fine", async () => {
    const begun = join(service.config.dataFolder, `hanging-${agent}`);
    const response = await client.fetch("POST", `/agents/${agent}/chat`, {
      message: `run: echo $PPID $(ps -o ppid= -p $PPID) . > ${begun} && tail -f /dev/null`,
    });
    const written = () => readFile(begun, "utf8").catch(() => "");
    await expect.poll(written, { timeout: 60_000 }).toContain(".");
    // OpenClaw has a process of its own start commands.
    const ancestors = (await written()).split(" ").slice(0, 2).map(Number);
    for (const pid of ancestors) if (pid !== process.pid) process.kill(pid, "SIGSTOP");
    await client.call("POST", `/agents/${agent}/turns/${response.headers.get("x-turn-id")}/cancel`);
    expect((await Array.fromAsync(eventsOf(response))).at(-1)!.event.type).toBe("response.cancelled");
    expect(await client.ask(agent, "run: echo fine")).toContain("fine");
  });

  test("a runtime killed by its own command fails the turn, and continues the conversation in the next", async () => {
    // OpenClaw has a process of its own start commands.
    const victim = runtime === "openclaw" ? "$(ps -o ppid= -p $PPID)" : "$PPID";
    const { events } = await client.chat(agent, `run: kill -9 ${victim}`);
    expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "runtime_failed" } });
    expect(await client.ask(agent, "Count.")).toContain("run: kill -9");
  });

  test.runIf(runtime === "openclaw")(
    "a lease that it held under another hostname does not keep it from starting",
    async () => {
      // As in a clone, which got its hostname after its runtime was started.
      const program = join(service.config.dataFolder, `lease-${agent}.cjs`);
      await writeFile(
        program,
        `const { DatabaseSync } = require("node:sqlite");
      const state = new DatabaseSync(process.env.HOME + "/.openclaw/state/openclaw.sqlite", { timeout: 5000 });
      const { changes } = state
        .prepare("UPDATE state_leases SET payload_json = json_set(payload_json, '$.owner.host', 'elsewhere')")
        .run();
      if (changes > 0) process.kill(process.argv[2], "SIGKILL");`,
      );
      const { events } = await client.chat(agent, `run: ${process.execPath} ${program} $(ps -o ppid= -p $PPID)`);
      expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "runtime_failed" } });
      expect(await client.ask(agent, "run: echo fine")).toContain("fine");
    },
  );

  test.runIf(runtime === "opencode")("a lock that it held when it was killed is gone at its next start", async () => {
    const lock = "~/.local/state/opencode/locks/left.lock";
    await client.chat(agent, `run: mkdir -p ${lock} && touch -d tomorrow ${lock} && kill -9 $PPID`);
    expect(await client.ask(agent, `run: [ -e ${lock} ] || echo it is gone`)).toContain("it is gone");
  });

  test("after a restart the conversation keeps model, instructions and files; a reset starts a new one", async () => {
    for (const _ of [1, 2]) await client.ask(agent, "run: true");
    const before = await client.ask(agent, "Count.");
    expect((await client.restartAgent(agent)).body).toMatchObject({ status: "ready" });
    proxy.requests.length = 0;
    const after = await client.ask(agent, "Count.");
    expect(messageNumberIn(after)).toBe(messageNumberIn(before) + 1);
    for (const { body } of proxy.asked) {
      expect(body.model).toBe("a-model-that-nobody-knows");
      expect(systemOf(body)).toContain("You are a gardener.");
    }
    await client.call("POST", `/agents/${agent}/conversation/reset`);
    expect(messageNumberIn(await client.ask(agent, "Count."))).toBe(1);
    expect(await client.ask(agent, "run: cat note.txt")).toContain("kept");
    await client.call("PATCH", `/agents/${agent}`, { model: null });
    await client.restartAgent(agent);
    proxy.requests.length = 0;
    expect(messageNumberIn(await client.ask(agent, "Count."))).toBe(3);
    expect(proxy.asked.map(({ body }) => body.model)).not.toContain("a-model-that-nobody-knows");
  });
});
