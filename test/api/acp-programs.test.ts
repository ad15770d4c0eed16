import { afterAll, beforeAll, expect, test } from "vitest";
import type { AcpProgram } from "../../src/contract/acp-program.ts";
import { archiveWith, importArchive } from "../support/archives.ts";
import { scriptedRuntime } from "../support/scripted-runtime.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The program of agents on the runtime `acp`. test/runtimes/acp-program.test.ts has real ones.

/** The programs with which the runtime was started, newest last. */
const started: (AcpProgram | null)[] = [];
const scripted = scriptedRuntime("acp");
const acp = {
  ...scripted,
  description: "Any program.",
  package: null,
  needsProgram: true,
  start(context: Parameters<typeof scripted.start>[0]) {
    started.push(context.program);
    if (context.program?.command === "missing") throw new Error("there is no such program");
    return scripted.start(context);
  },
};
let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start({}, { runtimes: [scriptedRuntime("claude-code"), acp] });
});
afterAll(() => service[Symbol.asyncDispose]());

const create = (fields: object) => service.client.call("POST", "/agents", fields);
const program = { command: "npx", args: ["-y", "@example/agent"] };

test("an agent's program is started when its machine is, and shown", async () => {
  const { body } = await service.client.createAgent("ada", { runtime: "acp", acp: program });
  expect(body).toMatchObject({ status: "ready", acp: program });
  expect(started).toEqual([program]);
  expect(await service.client.ask("ada", "good morning")).toBe("good morning");
  expect(started).toHaveLength(1);
  const runtimes = (await service.client.call("GET", "/runtimes")).body.data;
  expect(runtimes[1]).toMatchObject({ name: "acp", package: "", needsProgram: true, version: null });
});

test("a changed program answers the next turn", async () => {
  const other = { command: "/home/agent/bin/agent", args: [] };
  const { body } = await service.client.call("PATCH", "/agents/ada", { acp: { command: other.command } });
  expect(body.acp).toEqual(other);
  expect(await service.client.ask("ada", "good evening")).toBe("good evening");
  expect(started.at(-1)).toEqual(other);
});

test("a program that does not start fails the agent with the reason, and another one can be set", async () => {
  const { body } = await service.client.createAgent("bob", { runtime: "acp", acp: { command: "missing" } });
  expect(body).toMatchObject({
    status: "failed",
    error: { code: "runtime_failed", message: "acp did not start: there is no such program" },
  });
  expect((await service.client.call("PATCH", "/agents/bob", { acp: program })).status).toBe(200);
  await service.client.call("POST", "/agents/bob/resume");
  await expect.poll(async () => (await service.client.call("GET", "/agents/bob")).body.status).toBe("ready");
  expect(await service.client.ask("bob", "hello")).toBe("hello");
});

test("the program goes with the runtime that needs one", async () => {
  const changed = (fields: object) => service.client.call("PATCH", "/agents/bob", fields);
  const refused = (answer: { body: { code: string; message: string } }) => [answer.body.code, answer.body.message];
  const needed = ["request_invalid", "acp: the runtime acp needs a `command`, the program to start."];
  const needless = ["request_invalid", "acp: only the runtime acp has a program of its own, and this is claude-code."];
  expect(refused(await create({ name: "eve", runtime: "acp" }))).toEqual(needed);
  expect(refused(await create({ name: "eve", acp: program }))).toEqual(needless);
  expect(refused(await changed({ acp: null }))).toEqual(needed);
  expect((await changed({ runtime: "claude-code" })).body).toMatchObject({ runtime: "claude-code", acp: null });
  expect(await service.client.ask("bob", "on claude")).toBe("on claude");
  expect(refused(await changed({ acp: program }))).toEqual(needless);
  expect(refused(await changed({ runtime: "acp" }))).toEqual(needed);
  expect((await changed({ runtime: "acp", acp: program })).body.acp).toEqual(program);
});

test.each([
  [{ command: "" }, /acp\.command/],
  [{ command: "a\0b" }, /acp\.command must not contain null|command must not contain null/],
  [{ command: "a", args: ["\0"] }, /args must not contain null/],
  [{ command: "a", args: Array(101).fill("x") }, /acp\.args/],
  [{ command: "a", args: "x" }, /acp\.args/],
  [{ command: "a", env: {} }, /env/],
  ["npx", /acp/],
])("the program %j is refused", async (acp, message) => {
  const { status, body } = await create({ name: "eve", runtime: "acp", acp });
  expect([status, body.code]).toEqual([400, "request_invalid"]);
  expect(body.message).toMatch(message);
});

test("forks and imports have the program", async () => {
  const { client } = service;
  await client.createAgent("fox", { from: { agent: "ada" } });
  expect((await client.call("GET", "/agents/fox")).body.acp).toEqual({ command: "/home/agent/bin/agent", args: [] });
  const archive = await archiveWith({
    manifest: { runtime: { name: "acp", version: null } },
    settings: { acp: program },
  });
  expect((await importArchive(client, archive)).body.agent).toMatchObject({ runtime: "acp", acp: program });
  const without = await archiveWith({ manifest: { runtime: { name: "acp", version: null } } });
  expect((await importArchive(client, without, { query: "?name=gus" })).body.code).toBe("request_invalid");
});
