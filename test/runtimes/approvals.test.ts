import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { modelOf, providersAt, realModels, runtimes, toolName, toolUse } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The real runtimes that can ask, each as a process of this host.

let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(providersAt(proxy.url), { runtimes, packages: await guestPackages() });
  client = service.client;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

const all = { read: "ask", edit: "ask", execute: "ask", fetch: "ask", mcp: "ask", other: "ask" };

/** The tools of each runtime: their input with a path, and what an approval says. */
const tools: Record<string, [tool: string, input: object, kind: string, subject: string][]> = {
  "claude-code": [
    ["Read", { file_path: "PATH/secret.txt" }, "read", "PATH/secret.txt"],
    ["Write", { file_path: "PATH/new.txt", content: "new" }, "edit", "PATH/new.txt"],
    ["WebFetch", { url: "https://example.com/a?b", prompt: "?" }, "fetch", "example.com"],
    ["Bash", { command: "true; ls" }, "execute", "true; ls"],
  ],
  opencode: [
    ["read", { filePath: "PATH/secret.txt" }, "read", "PATH/secret.txt"],
    ["write", { filePath: "PATH/new.txt", content: "new" }, "edit", "PATH/new.txt"],
    ["webfetch", { url: "https://example.com/a?b", format: "text" }, "fetch", "example.com"],
    ["bash", { command: "true; ls", description: "?" }, "execute", "true; ls"],
  ],
  pi: [
    ["read", { path: "secret.txt" }, "read", "PATH/secret.txt"],
    ["write", { path: "PATH/new.txt", content: "new" }, "edit", "PATH/new.txt"],
    ["bash", { command: "true; ls" }, "execute", "true; ls"],
  ],
  "gemini-cli": [
    ["read_file", { file_path: "secret.txt" }, "read", "PATH/secret.txt"],
    ["write_file", { file_path: "PATH/new.txt", content: "new" }, "edit", "PATH/new.txt"],
    ["list_directory", { dir_path: "PATH" }, "read", "PATH"],
    ["web_fetch", { url: "https://example.com/a?b" }, "fetch", "example.com"],
    ["run_shell_command", { command: "true; ls" }, "execute", "true; ls"],
  ],
  // It reads files with commands.
  codex: [
    ["exec_command", { cmd: "cat secret.txt" }, "execute", "cat secret.txt"],
    ["exec_command", { cmd: "true; ls" }, "execute", "true; ls"],
    ["exec_command", { cmd: `echo "it's" '"$x"'` }, "execute", `echo "it's" '"$x"'`],
    [
      "exec_command",
      { cmd: "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\nEOF" },
      "edit",
      "PATH/new.txt",
    ],
  ],
};

describe.each(Object.entries(tools))("%s", (runtime, ofRuntime) => {
  const agent = `asking-${runtime}`;
  let home: string;

  beforeAll(async () => {
    const model = modelOf(runtime);
    const before = await service.server.machines.list();
    await client.createAgent(agent, { runtime, model, permissions: all });
    const made = (await service.server.machines.list()).find(({ id }) => before.every((each) => each.id !== id));
    home = join(service.config.dataFolder, "machines", made!.id);
    await writeFile(join(home, "secret.txt"), "canary");
  });

  async function say(message: string, decision: "allow" | "deny", to = agent) {
    const response = await client.fetch("POST", `/agents/${to}/chat`, { message, include: ["approvals", "tools"] });
    const turnId = response.headers.get("x-turn-id");
    const events: TurnEvent[] = [];
    for await (const { event } of eventsOf(response)) {
      events.push(event);
      if (event.type !== "response.approval.requested") continue;
      const path = `/agents/${to}/turns/${turnId}/approvals/${event.id}`;
      expect((await client.call("POST", path, { decision })).status).toBe(200);
    }
    return { events, requests: events.filter((event) => event.type === "response.approval.requested") };
  }

  test("a command runs once it is allowed, and not when it is denied", async () => {
    const command = "echo ran >> ran.txt";
    const denied = await say(`run: ${command}`, "deny");
    expect(denied.requests).toMatchObject([{ kind: "execute", subject: command, title: command }]);
    expect(denied.events.at(-1)!.type).toBe("response.completed");
    const allowed = await say(`run: ${command}`, "allow");
    expect(allowed.requests.length).toBe(1);
    expect(await readFile(join(home, "ran.txt"), "utf8")).toBe("ran\n");
  });

  test.each(ofRuntime)("%s is asked about, with what it would do", async (tool, input, kind, subject) => {
    const inHome = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value).replaceAll("PATH", home));
    const answer = toolUse(runtime, tool, inHome(input));
    let left = 1;
    proxy.fault = ({ body }) => (Array.isArray(body.tools) && body.tools.length > 0 && left-- > 0 ? answer : null);
    const denied = await say("Do it.", "deny");
    expect(denied.requests).toMatchObject([{ kind, subject: inHome(subject) }]);
    expect(denied.events.at(-1)!.type).toBe("response.completed");
    expect(JSON.stringify(denied.events)).not.toContain("canary");
    expect(existsSync(join(home, "new.txt"))).toBe(false);
  });

  test("a tool of an MCP server is asked about with its server, name and input, and rules know it", async () => {
    const to = `${agent}-mcp`;
    const program = join(import.meta.dirname, "../support/stdio-mcp-server.ts");
    await client.createAgent(to, {
      runtime,
      model: modelOf(runtime),
      permissions: { mcp: "ask" },
      mcpServers: { here: { command: process.execPath, args: [program] } },
    });
    // Claude Code's models look for a tool of a server before they call it.
    if (runtime === "claude-code") await client.ask(to, 'use: ToolSearch {"query":"select:mcp__here__echo"}');
    const use = `use: ${toolName(runtime, "here", "echo")} {"text":"canary"}`;
    const request = { kind: "mcp", subject: "here/echo", input: { text: "canary" } };
    const ran = /^(?!.*use:).*canary, with nothing/s;
    const replyOf = ({ events }: { events: TurnEvent[] }) =>
      events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
    const denied = await say(use, "deny", to);
    expect(denied.requests).toMatchObject([request]);
    expect(replyOf(denied)).not.toMatch(ran);
    const allowed = await say(use, "allow", to);
    expect(allowed.requests).toMatchObject([request]);
    expect(replyOf(allowed)).toMatch(ran);
    const rules = [{ kind: "mcp", pattern: "here/*", decision: "allow" }];
    expect((await client.call("PATCH", `/agents/${to}`, { permissions: { mcp: "deny", rules } })).status).toBe(200);
    const ruled = await say(use, "deny", to);
    expect(ruled.requests).toEqual([]);
    expect(replyOf(ruled)).toMatch(ran);
    await client.call("PATCH", `/agents/${to}`, { permissions: { mcp: "deny" } });
    expect(replyOf(await say(use, "allow", to))).not.toMatch(ran);
  });

  test("the agent's own settings allow nothing", async () => {
    const claude = { permissions: { allow: ["Bash", "Bash(echo:*)"], defaultMode: "bypassPermissions" } };
    const opencode = { permission: { "*": "allow", bash: { "*": "allow" } } };
    await mkdir(join(home, ".claude"), { recursive: true });
    await mkdir(join(home, ".config/opencode"), { recursive: true });
    for (const name of ["settings.json", "settings.local.json"]) {
      await writeFile(join(home, ".claude", name), JSON.stringify(claude));
    }
    for (const file of ["opencode.json", ".config/opencode/opencode.json"]) {
      await writeFile(join(home, file), JSON.stringify(opencode));
    }
    await mkdir(join(home, ".codex/rules"), { recursive: true });
    await writeFile(join(home, ".codex/rules/default.rules"), 'prefix_rule(pattern=["echo"], decision="allow")');
    await writeFile(
      join(home, ".codex/config.toml"),
      'approval_policy = "never"\nsandbox_mode = "danger-full-access"\n',
    );
    await mkdir(join(home, ".gemini/policies"), { recursive: true });
    await writeFile(
      join(home, ".gemini/settings.json"),
      JSON.stringify({ tools: { allowed: ["run_shell_command"] }, general: { defaultApprovalMode: "yolo" } }),
    );
    await writeFile(
      join(home, ".gemini/policies/own.toml"),
      '[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 999\n',
    );
    await client.call("POST", `/agents/${agent}/restart`);
    const denied = await say("run: echo bypassed > bypassed.txt", "deny");
    expect(denied.requests.length).toBe(1);
    expect(existsSync(join(home, "bypassed.txt"))).toBe(false);
  });
});
