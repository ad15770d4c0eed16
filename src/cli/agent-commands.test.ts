import type { Runtime, Turn } from "@berth/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { agent, installation, json, refuse, ScriptedApi, streaming } from "../../test/support/scripted-api.ts";
import type { Model } from "../contract/models.ts";

// Creating and changing agents: models, runtimes, update, suspend, restart, reset, turns, logs.

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
});
beforeEach(() => api.clear());
afterAll(() => api[Symbol.dispose]());

function model(id: string, runtimes: string[], prices: Partial<Model> = {}): Model {
  return { id, provider: "demo", runtimes, inputPrice: null, outputPrice: null, ...prices };
}

test("the models are listed over all pages, with their prices", async () => {
  const both = [
    model("anthropic/a", ["claude-code", "opencode"], { inputPrice: "300", outputPrice: "1500" }),
    model("demo/demo", []),
  ];
  api.answers["GET /models?limit=100"] = [json({ data: [both[0]], nextCursor: "next" })];
  api.answers["GET /models?limit=100&cursor=next"] = [json({ data: [both[1]], nextCursor: null })];
  expect(await api.berth(["models"])).toEqual({
    code: 0,
    stderr: "",
    stdout: [
      "ID           RUNTIMES               INPUT CREDITS/M  OUTPUT CREDITS/M\n",
      "anthropic/a  claude-code, opencode  300              1500\n",
      "demo/demo    none                   unknown          unknown\n",
    ].join(""),
  });
  const { stdout } = await api.berth(["models", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ data: both, nextCursor: null });
});

function runtime(name: string, changes: Partial<Runtime> = {}): Runtime {
  const able = { supported: true, reason: null };
  return {
    name,
    description: "A runtime.",
    package: name,
    needsProgram: false,
    version: "1.2.3",
    wires: ["messages"],
    providers: ["demo"],
    defaultModel: "anthropic/a",
    abilities: {
      instructions: able,
      model: able,
      effort: able,
      reset: able,
      cancel: able,
      tools: able,
      reasoning: able,
      usage: able,
      permissions: able,
      steer: able,
      output: able,
    },
    ...changes,
  };
}

test("agents are upgraded: one, none that needs it, all but those that cannot be, or as a trial", async () => {
  const waiting = { id: "old", upgradeAvailable: true };
  const all = [agent("ada", { image: waiting }), agent("bob"), agent("eve", { image: waiting, status: "suspended" })];
  api.answers["GET /agents?limit=100"] = [json({ data: all, nextCursor: null })];
  expect((await api.berth(["agents", "upgrade", "--all", "--dry-run"])).stdout).toBe(
    "NAME  RUNTIME      STATUS     IMAGE\nada   claude-code  ready      old\neve   claude-code  suspended  old\n",
  );
  expect(api.seen).toHaveLength(1);

  api.answers["POST /agents/ada/upgrade"] = [refuse(409, "ada is answering a message.", "turn_in_progress")];
  api.answers["POST /agents/eve/upgrade"] = [json(agent("eve"))];
  api.answers["GET /agents/eve/install-status"] = [streaming(installation("installed", null))];
  const { code, stdout, stderr } = await api.berth(["agents", "upgrade", "--all"]);
  expect([code, stdout]).toEqual([1, "1 of 2 agents were upgraded.\n"]);
  expect(stderr).toContain("ada was not changed: ada is answering a message.");

  api.answers["POST /agents/bob/upgrade"] = [json(agent("bob"))];
  expect((await api.berth(["agents", "upgrade", "bob"])).stdout).toBe("bob has the newest image already.\n");
  for (const wrong of [[], ["ada", "--all"]]) {
    expect(await api.berth(["agents", "upgrade", ...wrong])).toMatchObject({ code: 2 });
  }
});

test("the runtimes are listed, and below them what each cannot do and why", async () => {
  const { abilities } = runtime("any");
  const limited = runtime("limited", {
    version: null,
    defaultModel: null,
    abilities: {
      ...abilities,
      tools: { supported: true, reason: "Not all." },
      reasoning: { supported: false, reason: "It does not think." },
    },
  });
  const list = { data: [runtime("able"), limited], nextCursor: null };
  api.answers["GET /runtimes"] = [json({ data: [runtime("able")], nextCursor: null }), json(list)];
  expect((await api.berth(["runtimes"])).stdout).toBe("NAME  VERSION  DEFAULT MODEL\nable  1.2.3    anthropic/a\n");
  expect(await api.berth(["runtimes"])).toEqual({
    code: 0,
    stderr: "",
    stdout: [
      "NAME     VERSION  DEFAULT MODEL\n",
      "able     1.2.3    anthropic/a\n",
      "limited  unknown  its own choice\n",
      "\n",
      "RUNTIME  CANNOT           WHY\n",
      "limited  tools (in part)  Not all.\n",
      "limited  reasoning        It does not think.\n",
    ].join(""),
  });
  expect(JSON.parse((await api.berth(["runtimes", "--json"])).stdout)).toEqual(list);
});

test("an agent is created with instructions from standard input", async () => {
  api.answers["POST /agents"] = [json(agent("ada", { status: "provisioning" }), 201)];
  const made = await api.berth(["agents", "create", "ada", "--no-wait", "-i", "-"], { input: "Be kind.\n" });
  const stdout = "ada is being created. To check its state: berth agents get ada\n";
  expect(made).toEqual({ code: 0, stderr: "", stdout });
  expect(JSON.parse(api.seen[0]!.body)).toEqual({ name: "ada", instructions: "Be kind.\n" });
});

test("what is not given stays as it was when an agent is changed", async () => {
  const changed = agent("ada", { model: "demo/demo", instructions: "Be kind." });
  const asking = agent("ada", { agents: ["bob", "cleo"] });
  api.answers["PATCH /agents/ada"] = [json(changed), json(changed), json(agent("ada")), json(asking)];
  const update = (...options: string[]) => api.berth(["agents", "update", "ada", ...options], { input: "from stdin" });
  expect(await update("--model", "demo/demo")).toEqual({
    code: 0,
    stderr: "",
    stdout: "ada has the model demo/demo from its next turn on.\n",
  });
  expect(JSON.parse((await update("--instructions", "-", "--json")).stdout)).toEqual(changed);
  expect((await update("--default-model", "--no-instructions")).stdout).toBe(
    "ada has its runtime's default model and no instructions from its next turn on.\n",
  );
  expect((await update("--agents", "bob, cleo")).stdout).toBe(
    "ada has the agents bob and cleo to call from its next turn on.\n",
  );
  expect(api.seen.map(({ body }) => JSON.parse(body))).toEqual([
    { model: "demo/demo" },
    { instructions: "from stdin" },
    { model: null, instructions: null },
    { agents: ["bob", "cleo"] },
  ]);
});

test("an agent is created private, shared, and marked in the list", async () => {
  const hidden = agent("ada", { private: true, maker: { id: "8b6cb0c4-1f5b-4a53-9c1a-6c3f4e0e0f5e", name: "mia" } });
  api.answers["POST /agents"] = [json(hidden)];
  await api.berth(["agents", "create", "ada", "--private", "--no-wait"]);
  api.answers["PATCH /agents/ada"] = [json(agent("ada")), json(hidden)];
  const share = await api.berth(["agents", "update", "ada", "--no-private"]);
  expect(share.stdout).toBe("ada is shared with the workspace.\n");
  const hide = await api.berth(["agents", "update", "ada", "--private"]);
  expect(hide.stdout).toBe("ada is private to mia.\n");
  expect(api.seen.map(({ body }) => JSON.parse(body).private)).toEqual([true, false, true]);
  api.answers["GET /agents?limit=100"] = [json({ data: [hidden], nextCursor: null })];
  const { stdout } = await api.berth(["agents", "list"]);
  expect(stdout).toBe("NAME  RUNTIME      MODEL    STATUS\nada   claude-code  default  ready, private\n");
});

test("limits of each turn are set, shown and removed", async () => {
  const limited = agent("ada", { maxCredits: "12.5", maxToolCalls: 50 });
  api.answers["PATCH /agents/ada"] = [json(limited), json(agent("ada"))];
  api.answers["GET /agents/ada"] = [json(limited)];
  const set = await api.berth(["agents", "update", "ada", "--max-credits", "12.5", "--max-tool-calls", "50"]);
  expect(set.stdout).toBe("ada has 12.5 credits a turn and 50 tool calls a turn from its next turn on.\n");
  expect((await api.berth(["agents", "get", "ada"])).stdout).toMatch(
    /limits of a turn +12\.5 credits, 50 tool calls\n/,
  );
  const removed = await api.berth(["agents", "update", "ada", "--max-credits", "none"]);
  expect(removed.stdout).toBe("ada has no limit of credits a turn from its next turn on.\n");
  const bodies = api.seen.filter(({ method }) => method === "PATCH").map(({ body }) => JSON.parse(body));
  expect(bodies).toEqual([{ maxCredits: "12.5", maxToolCalls: 50 }, { maxCredits: null }]);
});

test("a change that is refused is exit code 1 in the service's words", async () => {
  const message = "There is no model x for claude-code.";
  api.answers["PATCH /agents/ada"] = [refuse(400, message, "model_not_available")];
  const refused = await api.berth(["agents", "update", "ada", "-m", "x"]);
  expect(refused).toEqual({ code: 1, stdout: "", stderr: `berth: ${message}\n` });
});

test("a restart is followed until the agent is ready; --no-wait does not wait", async () => {
  api.answers["POST /agents/ada/restart"] = [json(agent("ada", { status: "provisioning" }))];
  api.answers["GET /agents/ada/install-status"] = [
    streaming(installation("installing", "machine"), installation("installed", null)),
  ];
  api.answers["GET /agents/ada"] = [json(agent("ada"))];
  const { code, stdout, stderr } = await api.berth(["agents", "restart", "ada"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "3/4 starting the machine\n" });
  expect(stdout).toMatch(/^ada is ready \(\d+\.\d s\)\./);
  const ready = await api.berth(["agents", "restart", "ada", "--json"]);
  expect({ ...ready, stdout: JSON.parse(ready.stdout) }).toEqual({ code: 0, stderr: "", stdout: agent("ada") });
  api.seen = [];
  expect((await api.berth(["agents", "restart", "ada", "--no-wait"])).stdout).toMatch(/^ada is being restarted\./);
  expect(api.seen).toHaveLength(1);
});

test("a restart that failed is exit code 1 with its reason", async () => {
  api.answers["POST /agents/ada/restart"] = [json(agent("ada", { status: "provisioning" }))];
  api.answers["GET /agents/ada/install-status"] = [streaming(installation("failed", null))];
  expect(await api.berth(["agents", "restart", "ada", "--json"])).toEqual({
    code: 1,
    stdout: "",
    stderr: '{"code":"machine_failed","message":"The machine did not start."}\n',
  });
});

test("a reset begins a new conversation and says that the files stay", async () => {
  const busy = refuse(409, "A turn is in progress.", "turn_in_progress");
  api.answers["POST /agents/ada/conversation/reset"] = [json(agent("ada")), json(agent("ada")), busy];
  const reset = (...options: string[]) => api.berth(["agents", "reset", "ada", "--yes", ...options]);
  const stdout = "ada starts a new conversation. Its files are kept.\n";
  expect(await reset()).toEqual({ code: 0, stderr: "", stdout });
  expect(JSON.parse((await reset("--json")).stdout)).toEqual(agent("ada"));
  expect(await reset()).toEqual({ code: 1, stdout: "", stderr: "berth: A turn is in progress.\n" });
});

test("an agent is suspended and resumed, and it is said what it has come to", async () => {
  const busy = refuse(409, "The agent is answering another message.", "turn_in_progress");
  api.answers["POST /agents/ada/suspend"] = [json(agent("ada", { status: "suspended" })), busy];
  api.answers["POST /agents/ada/resume?wait=ready"] = [json(agent("ada"))];
  api.answers["POST /agents/ada/resume"] = [json(agent("ada", { status: "suspended" }))];
  expect(await api.berth(["agents", "suspend", "ada"])).toEqual({ code: 0, stderr: "", stdout: "ada is suspended.\n" });
  expect(await api.berth(["agents", "suspend", "ada"])).toMatchObject({ code: 1, stdout: "" });
  expect((await api.berth(["agents", "resume", "ada"])).stdout).toBe("ada is ready.\n");
  expect((await api.berth(["agents", "resume", "ada", "--no-wait"])).stdout).toBe("ada is being woken.\n");
});

test("logs are shown, cleaned of control characters, and followed to the machine's end", async () => {
  api.answers["GET /agents/ada/logs?tail=2"] = [json({ lines: ["one", "\u001b[31mtwo"] })];
  expect((await api.berth(["agents", "logs", "ada", "-n", "2"])).stdout).toBe("one\n\u{fffd}[31mtwo\n");
  api.answers["GET /agents/ada/logs?tail=100&follow=true"] = [streaming({ line: "three" }, { ended: true })];
  expect(await api.berth(["agents", "logs", "ada", "-f"])).toEqual({ code: 0, stderr: "", stdout: "three\n" });
  expect((await api.berth(["agents", "logs", "ada", "-n", "none"])).code).toBe(2);
});

function turn(message: string, changes: Partial<Turn> = {}): Turn {
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  return {
    id: message,
    conversation: 1,
    message,
    attachments: [],
    reply: "",
    replyTruncated: false,
    status: "completed",
    reason: null,
    output: null,
    error: null,
    askedBy: null,
    createdBy: null,
    queuedAt: null,
    undone: false,
    changes: null,
    model: null,
    effort: null,
    usage: { ...usage, contextTokens: 2, contextLimit: null, credits: "1" },
    createdAt: "2026-01-02T03:04:05.678Z",
    finishedAt: "2026-01-02T03:05:05.678Z",
    ...changes,
  };
}

test("the turns are shown with the newest last, on one line each; a failed one with why", async () => {
  const error = { code: "model_failed" as const, message: "No model." };
  const turns = [
    turn(" second\x1b[1m\nline ", { status: "failed", reply: "I beg", error, createdAt: "2026-01-03T23:04:05.678Z" }),
    turn("first", { reply: "word ".repeat(20) }),
  ];
  api.answers["GET /agents/ada/turns?limit=20"] = [json({ data: turns, nextCursor: null })];
  expect(await api.berth(["agents", "turns", "ada"])).toEqual({
    code: 0,
    stderr: "",
    stdout: [
      "TIME              STATUS     MESSAGE          REPLY\n",
      "2026-01-02 03:04  completed  first            word word word word word word wo…\n",
      "2026-01-03 23:04  failed     second\u{fffd}[1m line  model_failed: No model.\n",
    ].join(""),
  });
  const { stdout } = await api.berth(["agents", "turns", "ada", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ data: turns, nextCursor: null });
});

test("as many turns are asked for as are desired, in pages", async () => {
  const page = (length: number, nextCursor: string | null) =>
    json({ data: Array.from({ length }, () => turn("x")), nextCursor });
  api.answers["GET /agents/ada/turns?limit=100"] = [page(100, "a")];
  api.answers["GET /agents/ada/turns?limit=50&cursor=a"] = [page(50, "b")];
  const { stdout, stderr } = await api.berth(["agents", "turns", "ada", "--limit", "150"]);
  expect(stdout.trimEnd().split("\n")).toHaveLength(151);
  expect(stderr).toBe("There are older turns: --limit shows more.\n");
  const listed = JSON.parse((await api.berth(["agents", "turns", "ada", "-n", "150", "--json"])).stdout);
  expect({ ...listed, data: listed.data.length }).toEqual({ data: 150, nextCursor: "b" });
});

test("an agent without turns is said to have none", async () => {
  api.answers["GET /agents/ada/turns?limit=20"] = [json({ data: [], nextCursor: null })];
  const stderr = "ada has received no messages yet.\n";
  expect(await api.berth(["agents", "turns", "ada"])).toEqual({ code: 0, stdout: "", stderr });
});

test("the changes since a point are shown, and a turn's are reverted and made again", async () => {
  const files = [{ name: "a.ts", change: "changed", size: 1, hash: null, diff: "@@ -1 +1 @@\n-1\n+2\n", reason: null }];
  const changes = {
    created: 0,
    changed: 1,
    deleted: 0,
    cut: false,
    writers: "all",
    files,
    turns: ["one"],
    unknown: [],
  };
  api.answers["GET /agents/ada/changes?since=good+one"] = [json(changes)];
  expect((await api.berth(["turns", "changes", "ada", "--since", "good one"])).stdout).toBe(
    "~ a.ts\n@@ -1 +1 @@\n-1\n+2\n\n0 created, 1 changed, 0 deleted\n",
  );
  expect(await api.berth(["turns", "changes", "ada", "one", "--since", "good one"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Pass a turn or --since, not both."),
  });
  const reverted = { files: [{ name: "a\u001b[31m.ts", change: "deleted" }] };
  api.answers["POST /agents/ada/turns/one/changes/revert"] = [json(reverted), json(reverted)];
  expect((await api.berth(["turns", "revert", "ada", "one", "a.ts", "b"])).stdout).toBe("- a\u{fffd}[31m.ts\n");
  await api.berth(["turns", "revert", "ada", "one", "a.ts", "--again"]);
  const bodies = api.seen.slice(-2).map(({ body }) => JSON.parse(body));
  expect(bodies).toEqual([
    { files: ["a.ts", "b"], to: "before" },
    { files: ["a.ts"], to: "after" },
  ]);
});

test("a turn's changes are shown with their diffs, or as names", async () => {
  const file = { size: 4, hash: null };
  const files = [
    { ...file, name: "src/a.ts", change: "changed", diff: "@@ -1 +1 @@\n-one\n+two\u001b[31m\n" },
    { ...file, name: "a\u001b[31m.png", change: "created", diff: null },
    { ...file, name: "old", change: "deleted", diff: null },
  ];
  const changes = { created: 1, changed: 1, deleted: 1, cut: true, writers: "all", files };
  api.answers["GET /agents/ada/turns/one/changes"] = [json(changes), json(changes)];
  expect((await api.berth(["turns", "changes", "ada", "one"])).stdout).toBe(
    "~ src/a.ts\n@@ -1 +1 @@\n-one\n+two\u001b[31m\n\n+ a\u{fffd}[31m.png\n- old\n1 created, 1 changed, 1 deleted; not all are listed\n",
  );
  expect((await api.berth(["turns", "changes", "ada", "one", "--names"])).stdout).toContain("~ src/a.ts\n+ a");
});
