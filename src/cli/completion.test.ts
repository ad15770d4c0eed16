import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { json, refuse, ScriptedApi } from "../../test/support/scripted-api.ts";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../../", import.meta.url));

let api: ScriptedApi;
beforeAll(async () => {
  api = await ScriptedApi.listen();
  const agents = ["ada", "adele", "bob", "$(touch /tmp/berth-was-run)"].map((name) => ({ name }));
  api.answers["GET /agents?limit=100"] = [json({ data: agents, nextCursor: null })];
  api.answers["GET /models?limit=100"] = [json({ data: [{ id: "demo/demo" }, { id: "x/y" }], nextCursor: null })];
  api.answers["GET /runtimes"] = [json({ data: [{ name: "opencode" }], nextCursor: null })];
});
afterAll(() => api[Symbol.dispose]());

test.each([
  [["ag"], ["agents"]],
  [
    ["agents", "res"],
    ["resume", "restart", "reset"],
  ],
  [
    ["agents", "get", "ad"],
    ["ada", "adele"],
  ],
  [
    ["chat", ""],
    ["ada", "adele", "bob"],
  ],
  [["turns", "show", "b"], ["bob"]],
  [["chat", "ada", ""], []],
  [["agents", "create", "ad"], []],
  [
    ["agents", "create", "new", "--model", ""],
    ["demo/demo", "x/y"],
  ],
  [["agents", "create", "new", "--runtime", "o"], ["opencode"]],
  [["keys", "create", "--agent", "b"], ["bob"]],
  [
    ["keys", "create", "--kind", ""],
    ["full", "agent"],
  ],
  [["agents", "get", "--json", "bo"], ["bob"]],
  [["agents", "get", "--pro"], ["--profile"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [["nonsense", ""], []],
])("berth %j is completed with %j", async (words, expected) => {
  const { stdout, stderr } = await api.berth(["complete", "--", ...words]);
  expect([stdout.split("\n").filter(Boolean), stderr]).toEqual([expected, ""]);
});

test("a service that does not answer has no names, and says nothing", async () => {
  const before = api.answers["GET /agents?limit=100"]!;
  api.answers["GET /agents?limit=100"] = [refuse(503, "Away.", "database_unavailable")];
  expect(await api.berth(["complete", "--", "chat", ""])).toEqual({ code: 0, stdout: "", stderr: "" });
  api.answers["GET /agents?limit=100"] = before;
});

test("bash completes with the script, and runs nothing that a name says", async () => {
  const script = `source <(berth completion bash)
    COMP_WORDS=(berth agents get "") COMP_CWORD=3
    _berth
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = {
    ...process.env,
    PATH: `${folder}:${process.env.PATH}`,
    BERTH_URL: api.url,
    BERTH_API_KEY: "berth_sk_test",
  };
  const { stdout } = await run("bash", ["-c", script], { env });
  expect(stdout).toBe("ada\nadele\nbob\n");
});
