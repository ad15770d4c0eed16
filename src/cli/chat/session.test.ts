import { setTimeout as sleep } from "node:timers/promises";
import type { TurnEvent } from "@berth/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, agent, json, refuse, ScriptedApi } from "../../../test/support/scripted-api.ts";
import { keys, ScriptedTerminal } from "../../../test/support/scripted-terminal.ts";

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
afterAll(() => api[Symbol.dispose]());
beforeEach(() => {
  api.clear();
  api.answers["GET /agents/ada"] = [json(agent("ada"))];
  api.answers["GET /agents/ada/turns?limit=10&conversation=1"] = [turns()];
  api.answers["POST /agents/ada/turns/t1/cancel"] = [json({}, 202)];
});

interface PastTurn {
  id?: string;
  message: string;
  reply: string;
  status?: string;
  conversation?: number;
}

/** The list of turns, the newest first. */
function turns(...past: PastTurn[]): Answer {
  const data = past.map((turn) => ({
    ...{
      id: "t0",
      conversation: 1,
      replyTruncated: false,
      status: "completed",
      error: null,
      model: null,
      usage,
      ...turn,
    },
    ...{ createdAt: "2026-01-02T03:04:05.678Z", finishedAt: null },
  }));
  return json({ data, nextCursor: null });
}

const usage = { inputTokens: 1200, outputTokens: 34, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

/** Writes a turn's events. */
class Turn {
  /** The messages that were sent. */
  readonly messages: string[] = [];
  #write: (event: TurnEvent) => void = () => {};
  #begun = Promise.withResolvers<void>();

  answer: Answer = (response, { body }) => {
    this.messages.push((JSON.parse(body) as { message: string }).message);
    response.writeHead(200, { "content-type": "text/event-stream", "x-turn-id": "t1" });
    let id = 0;
    this.#write = (event) => {
      response.write(`id: ${++id}\ndata: ${JSON.stringify(event)}\n\n`);
      if (/completed|failed|cancelled/.test(event.type) && !event.type.includes("tool")) response.end();
    };
    this.#begun.resolve();
  };

  async send(...events: TurnEvent[]): Promise<void> {
    await this.#begun.promise;
    for (const event of events) this.#write(event);
  }

  async say(...deltas: string[]): Promise<void> {
    await this.send(...deltas.map((delta) => ({ type: "response.output_text.delta" as const, delta })));
  }

  /** The next message starts over. */
  async complete(): Promise<void> {
    await this.#end({
      type: "response.completed",
      usage: { ...usage, contextTokens: null, contextLimit: null, credits: "0.5" },
    });
  }

  async cancelled(): Promise<void> {
    await this.#end({ type: "response.cancelled" });
  }

  async #end(event: TurnEvent): Promise<void> {
    await this.#begun.promise;
    this.#begun = Promise.withResolvers();
    this.#write(event);
  }
}

function scriptTurn(): Turn {
  const turn = new Turn();
  api.answers["POST /agents/ada/chat"] = [turn.answer];
  return turn;
}

async function chat(options: { configFolder?: string; columns?: number } = {}, args: string[] = []) {
  const environment = { BERTH_URL: api.url, BERTH_API_KEY: "berth_sk_test" };
  const terminal = await ScriptedTerminal.run(["chat", "ada", ...args], environment, options);
  await terminal.shows("/help shows the commands");
  return terminal;
}

test("/file attaches a file to the next message, which shows its name", async () => {
  const turn = scriptTurn();
  api.answers["POST /agents/ada/uploads?name=session.test.ts"] = [json({ id: "f1", name: "notes.txt", size: 5 }, 201)];
  await using terminal = await chat();
  terminal.type(`/file ${import.meta.filename}${keys.enter}`);
  await terminal.shows("notes.txt (5 bytes) goes with the next message.");
  terminal.type(`look${keys.enter}`);
  await turn.complete();
  await terminal.shows(/> look\n {2}\[notes\.txt\]/);
  const { body } = api.seen.find(({ path }) => path === "/agents/ada/chat")!;
  const content = [
    { type: "text", text: "look" },
    { type: "file", fileId: "f1" },
  ];
  expect(JSON.parse(body)).toMatchObject({ content });
  terminal.type(`/file /none${keys.enter}`);
  await terminal.shows("/none: no such file.");
});

test("a message is answered in Markdown, and Ctrl-D leaves the terminal as it was", async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.type(`What is it?${keys.enter}`);
  await terminal.shows("sending");
  await turn.send({ type: "response.created" }, { type: "response.in_progress", wakeMs: 5 });
  await terminal.shows("thinking");
  await turn.say("# It", " is\n\n- **one**\n- tw");
  await terminal.shows(/It is\n\n• one\n• tw\n/);
  await turn.say("o\n\n```js\nlet a;\n```\n");
  await terminal.shows("  let a;");
  await turn.complete();
  await terminal.hides("writing");
  expect(terminal.screen()).toMatch(/> What is it\?\n\nIt is\n\n• one\n• two\n\n {2}let a;\n\n>$/);
  expect(turn.messages).toEqual(["What is it?"]);
  terminal.type(keys.ctrlD);
  expect(await terminal.exited).toBe(0);
  expect(terminal.output.lastIndexOf("\x1b[?2004l")).toBeGreaterThan(terminal.output.lastIndexOf("\x1b[?2004h"));
  expect(terminal.output.lastIndexOf("\x1b[?25h")).toBeGreaterThan(terminal.output.lastIndexOf("\x1b[?25l"));
});

test("what was said before is shown, of this conversation only, and a reply under way is followed", async () => {
  api.answers["GET /agents/ada"] = [json(agent("ada", { conversation: 2 }))];
  api.answers["GET /agents/ada/turns?limit=10&conversation=2"] = [
    turns(
      { id: "t1", message: "Go on", reply: "half", status: "running", conversation: 2 },
      { message: "Hello", reply: "*Hi* there", conversation: 2 },
    ),
  ];
  const turn = new Turn();
  const followed: Answer = (response, seen) => turn.answer(response, { ...seen, body: '{"message":""}' });
  api.answers["GET /agents/ada/turns/t1/events?after=0&include=status,tools,usage,approvals"] = [followed];
  await using terminal = await chat();
  await turn.say("half and whole");
  await turn.complete();
  await terminal.shows("half and whole");
  expect(terminal.screen()).toMatch(/> Hello\n\nHi there\n\n> Go on\n\nhalf and whole/);
});

test("--no-history shows nothing of it", async () => {
  api.answers["GET /agents/ada/turns?limit=10&conversation=1"] = [turns({ message: "Hello", reply: "Hi there" })];
  await using terminal = await chat({}, ["--no-history"]);
  expect(terminal.all()).not.toContain("Hi there");
  expect(api.seen.map(({ path }) => path)).toEqual(["/agents/ada"]);
});

test("messages of a session are offered in the next, and can be edited over several lines", async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  for (const message of ["first", "second"]) {
    terminal.type(message + keys.enter);
    await turn.complete();
    await terminal.hides("Ctrl-C interrupts");
  }
  terminal.type(keys.ctrlD);
  await terminal.exited;
  await using next = await chat({ configFolder: terminal.configFolder });
  next.type(`draft${keys.up}${keys.up}`);
  await next.shows("> first");
  next.type(keys.down + keys.down);
  await next.shows("> draft");
  next.type(`${keys.ctrlU}one\\${keys.enter}`);
  await next.shows(/> one$/);
  next.type(`two${keys.altEnter}tree${keys.left}${keys.left}${keys.left}h`);
  next.type(`${keys.left}${keys.up}${keys.home}zero `);
  await next.shows(/> one\n {2}zero two\n {2}three/);
  next.type(keys.enter);
  await turn.complete();
  await next.hides("Ctrl-C interrupts");
  expect(turn.messages.at(-1)).toBe("one\nzero two\nthree");
});

test("lines that are pasted are one message, whether the terminal marks a paste or not", async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.paste("a\r\nb\rc\x1b[31m");
  await terminal.shows(/> a\n {2}b\n {2}c/);
  terminal.type(keys.enter);
  await turn.complete();
  await terminal.hides("Ctrl-C interrupts");
  terminal.type("d\re\rf");
  await terminal.shows(/> d\n {2}e\n {2}f/);
  terminal.type(keys.enter);
  await turn.complete();
  await terminal.hides("Ctrl-C interrupts");
  expect(turn.messages).toEqual(["a\nb\nc\x1b[31m", "d\ne\nf"]);
});

test("a pasted megabyte is refused with a reason, a pasted quarter of it is sent whole", {
  timeout: 120_000,
}, async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.type("kept");
  terminal.paste("é".repeat(512 * 1024));
  await terminal.shows("A message is limited to 256 KiB.", 60_000);
  await terminal.shows("> kept");
  terminal.type(keys.ctrlU);
  const long = `${"x".repeat(100_000)}\n${"y z ".repeat(30_000)}end`;
  terminal.paste(long);
  await terminal.shows("end", 60_000);
  terminal.type("!");
  await terminal.shows("end!");
  terminal.type(keys.enter);
  await terminal.shows(/more lines/, 60_000);
  await turn.complete();
  await terminal.hides("Ctrl-C interrupts");
  expect(turn.messages).toEqual([`${long}!`]);
});

test("calls of tools are a line each, which Ctrl-O unfolds and folds", async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.type(`List${keys.enter}`);
  await turn.say("I look.");
  await turn.send({
    type: "response.tool_call.started",
    id: "1",
    title: "ls\x1b]0;evil\x07 -la",
    input: { command: "ls -la" },
  });
  await terminal.shows(/I look\.\n\n⠋?.* ls/);
  await turn.send(
    {
      type: "response.tool_call.completed",
      id: "1",
      status: "completed",
      output: [{ content: { type: "text", text: "total 3\x1b[2J" } }],
    },
    { type: "response.tool_call.started", id: "2", title: "rm x" },
    { type: "response.tool_call.completed", id: "2", status: "failed" },
  );
  await turn.say("Done.");
  await turn.complete();
  await terminal.shows(/✔ ls.*\n✘ rm x\n\nDone\.\n\n>/);
  expect(terminal.screen()).not.toContain("total 3");
  terminal.type(keys.ctrlO);
  await terminal.shows("│ total 3");
  await terminal.shows('"command": "ls -la"');
  terminal.type(keys.ctrlO);
  await terminal.hides("total 3");
  await terminal.shows("✔ ls");
  expect(terminal.output).not.toContain("\x1b]0;evil");
});

test("a message that is sent while a reply is under way waits, and is sent after it", async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.type(`one${keys.enter}`);
  await turn.say("first reply");
  await terminal.shows("first reply");
  terminal.type(`two${keys.enter}`);
  await terminal.shows(/> two\n>$/);
  terminal.type(`three${keys.enter}`);
  await terminal.shows(/Ctrl-C interrupts\n> two\n> three\n>/);
  expect(turn.messages).toEqual(["one"]);
  for (let replies = 1; replies <= 3; replies++) {
    await turn.complete();
    if (replies < 3) await expect.poll(() => turn.messages.length).toBe(replies + 1);
  }
  await terminal.hides("Ctrl-C interrupts");
  expect(turn.messages).toEqual(["one", "two", "three"]);
});

test("Ctrl-C interrupts the reply and gives back what waits; a second one leaves", async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.type(`one${keys.enter}`);
  await turn.say("I begin");
  await terminal.shows("I begin");
  terminal.type(`two${keys.enter}`);
  await terminal.shows(/\n> two\n>/);
  terminal.type(keys.ctrlC);
  await terminal.shows("Ctrl-C once more leaves.");
  await expect.poll(() => api.seen.some(({ path }) => path === "/agents/ada/turns/t1/cancel")).toBe(true);
  await turn.cancelled();
  await terminal.shows("interrupted");
  await terminal.shows(/> two$/);
  expect(turn.messages).toEqual(["one"]);
  terminal.type(keys.ctrlC); // Clears the input.
  await terminal.hides(/> two$/);
  terminal.type(keys.ctrlC);
  await terminal.shows("Ctrl-C once more leaves.");
  terminal.type(keys.ctrlC);
  expect(await terminal.exited).toBe(130);
});

test("leaving during a reply says that the reply continues", async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.type(`one${keys.enter}`);
  await turn.say("I begin");
  await terminal.shows("I begin");
  terminal.type(keys.ctrlD);
  expect(await terminal.exited).toBe(0);
  expect(terminal.screen()).toContain("ada continues its reply. To see it: berth chat ada");
  expect(api.seen.some(({ path }) => path.endsWith("/cancel"))).toBe(false);
});

test("commands: help, an unknown one, the model with its completion, usage, a reset that is confirmed", async () => {
  const models = ["anthropic/claude-a", "anthropic/claude-b", "demo/echo"].map((id) => ({ id, runtimes: [] }));
  api.answers["GET /models?limit=100"] = [json({ data: models, nextCursor: null })];
  api.answers["PATCH /agents/ada"] = [json(agent("ada", { model: "demo/echo" }))];
  api.answers["GET /billing"] = [json({ balance: "900", spentThisMonth: "12.5" })];
  api.answers["POST /agents/ada/conversation/reset"] = [json(agent("ada"))];
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.type(`/help${keys.enter}`);
  await terminal.shows("/reset              begin a new conversation");
  terminal.type(`/nonsense${keys.enter}`);
  await terminal.shows("There is no /nonsense.");
  terminal.type(`${keys.ctrlU}/m${keys.tab}`);
  await terminal.shows(/> \/model$/);
  expect(terminal.cursorColumn).toBe("> /model ".length);
  terminal.type(`a${keys.tab}`);
  await terminal.shows("> /model anthropic/claude-");
  terminal.type(keys.tab);
  await terminal.shows(/^anthropic\/claude-a, anthropic\/claude-b$/m);
  terminal.type(`${keys.ctrlW}${keys.ctrlW}${keys.ctrlU}/model demo/echo${keys.enter}`);
  await terminal.shows("demo/echo answers from the next message on.");
  terminal.type(`hello${keys.enter}`);
  await turn.complete();
  await terminal.hides("Ctrl-C interrupts");
  terminal.type(`/usage${keys.enter}`);
  await terminal.shows("last reply: tokens: 1,200 in, 34 out; credits: 0.5");
  await terminal.shows("credits: 900 left, 12.5 spent this month");
  terminal.type(`/reset${keys.enter}`);
  await terminal.shows("Begin a new conversation, and forget this one? [y/N]");
  terminal.type("n");
  await terminal.shows("Nothing was changed.");
  terminal.type(`/reset${keys.enter}`);
  await terminal.shows("forget this one? [y/N]");
  terminal.type("y");
  await terminal.shows("A new conversation begins.");
  expect(api.seen.filter(({ path }) => path.endsWith("/reset"))).toHaveLength(1);
  terminal.type(`//etc/hosts${keys.enter}`);
  await turn.complete();
  await terminal.hides("Ctrl-C interrupts");
  expect(turn.messages).toEqual(["hello", "/etc/hosts"]);
  terminal.type(`/quit${keys.enter}`);
  expect(await terminal.exited).toBe(0);
});

test("an error is shown and does not end the conversation; what waited is given back", async () => {
  api.answers["POST /agents/ada/chat"] = [refuse(402, "The account has no credits left.", "insufficient_credits")];
  await using terminal = await chat();
  terminal.type(`one${keys.enter}`);
  await terminal.shows("The account has no credits left.");
  const turn = scriptTurn();
  terminal.type(`two${keys.enter}`);
  await turn.send({ type: "response.failed", error: { code: "runtime_failed", message: "It broke." } });
  await terminal.shows("It broke. (runtime_failed)");
  terminal.type(keys.up);
  await terminal.shows(/> two$/);
});

test("the width may change at any time, with wide and right-to-left text on the screen", async () => {
  const turn = scriptTurn();
  await using terminal = await chat();
  terminal.type("日本語 👨‍👩‍👧 שלום ");
  terminal.type("abc".repeat(20));
  await terminal.shows("שלום");
  for (const columns of [40, 12, 3, 100, 61]) {
    terminal.resize(columns);
    await sleep(30);
  }
  await terminal.shows(/> 日本語/);
  terminal.type(keys.enter);
  await turn.say("مرحبا بالعالم ".repeat(20), "\n\nこんにちは".repeat(3));
  await terminal.shows("مرحبا");
  terminal.resize(30, 10);
  await turn.say("\n\nlast words");
  await turn.complete();
  await terminal.shows(/last words\n\n>$/);
  expect(turn.messages[0]).toBe(`日本語 👨‍👩‍👧 שלום ${"abc".repeat(20)}`);
  // Every family is one character for the keys.
  terminal.type(`👨‍👩‍👧${keys.backspace}x`);
  await terminal.shows(/> x$/);
});

test("without a terminal a message is required, and an unknown agent is reported before anything is drawn", async () => {
  expect(await api.berth(["chat", "ada"])).toMatchObject({ code: 2, stdout: "", stderr: /A message is missing/ });
  api.answers["GET /agents/ada"] = [refuse(404, "There is no agent ada.", "agent_not_found")];
  await using terminal = await ScriptedTerminal.run(["chat", "ada"], {
    BERTH_URL: api.url,
    BERTH_API_KEY: "berth_sk_t",
  });
  expect(await terminal.exited).toBe(1);
  expect(terminal.screen()).toBe("berth: There is no agent ada.");
});

describe("a tool that the agent asks for", () => {
  const id = "7f1cdb32-5b1e-4d5e-8c52-0d5a0a2b7d10";
  const request: TurnEvent = {
    type: "response.approval.requested",
    id,
    toolCallId: null,
    kind: "execute",
    title: "make",
    subject: "make all",
    tool: "Bash",
    input: {},
    diff: null,
  };
  const answers = () =>
    api.seen.filter(({ path }) => path.endsWith(`/approvals/${id}`)).map(({ body }) => JSON.parse(body));

  beforeEach(() => {
    api.answers[`POST /agents/ada/turns/t1/approvals/${id}`] = [json({})];
  });

  test("is allowed by a key, and other keys do nothing", async () => {
    const turn = scriptTurn();
    await using terminal = await chat();
    terminal.type(`Build it${keys.enter}`);
    await turn.send(request);
    await terminal.shows("ada wants to execute: make all");
    await terminal.shows("Allow ada to execute? [y: allow, n: deny, a: always allow]");
    terminal.type("xa");
    await terminal.hides("Allow ada to execute?");
    await expect.poll(answers).toEqual([{ decision: "allow-always" }]);
    await turn.send({ type: "response.approval.resolved", id, decision: "allow-always" });
    await turn.complete();
  });

  test("is no longer asked about when it was answered elsewhere", async () => {
    const turn = scriptTurn();
    await using terminal = await chat();
    terminal.type(`Build it${keys.enter}`);
    await turn.send(request);
    await terminal.shows("Allow ada to execute?");
    await turn.send({ type: "response.approval.resolved", id, decision: "deny" });
    await terminal.hides("Allow ada to execute?");
    terminal.type("yes");
    await terminal.shows("> yes");
    expect(answers()).toEqual([]);
    await turn.complete();
  });

  test("is asked about by a single message on a terminal, too", async () => {
    const turn = scriptTurn();
    const environment = { BERTH_URL: api.url, BERTH_API_KEY: "berth_sk_test" };
    await using terminal = await ScriptedTerminal.run(["chat", "ada", "Build it"], environment, {});
    await turn.send(request);
    await terminal.shows("[y: allow, n: deny, a: always allow]");
    terminal.type(`n${keys.enter}`);
    await expect.poll(answers).toEqual([{ decision: "deny" }]);
    await turn.send({ type: "response.approval.resolved", id, decision: "deny" });
    await turn.complete();
    expect(await terminal.exited).toBe(0);
  });
});
