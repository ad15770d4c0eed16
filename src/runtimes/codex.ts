import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { BerthError } from "../contract/errors.ts";
import { functionServer } from "../contract/functions.ts";
import type { McpServer } from "../contract/mcp-servers.ts";
import { processor } from "../core/processor.ts";
import { CodexServer } from "./codex-server.ts";
import { CodexApprovals, CodexSession } from "./codex-session.ts";
import { killTree, loginEnvironment, proxyEnvironment, spawnRuntime } from "./process.ts";
import { allAbilities, latestSession, type Runtime, type StartContext, skillsFolder } from "./runtime.ts";

const run = promisify(execFile);

/**
 * OpenAI's Codex behind its own app server, the protocol of its editor extensions. Each turn names its model, which may
 * be any. The observations here are from version 0.171.0.
 */
export const codex: Runtime = {
  name: "codex",
  description: "OpenAI's coding agent.",
  package: processor.packages.codex,
  abilities: {
    ...allAbilities,
    permissions: {
      supported: true,
      reason:
        "Codex reads files with commands, so these are `execute`. It does not ask before it lists an MCP server's resources.",
    },
  },
  memoryMiB: 1024,
  wires: ["responses"],
  defaultModels: ["openai/gpt-5", "openai/"],
  warmUp: ["Good morning.", "run: echo warm", "run: true"].map((message) => ({ message, model: null })),
  async start(context) {
    const { session, approvals, packages } = context;
    const program = join(packages, processor.codexProgram);
    const settings = Object.entries(configuration(context.gatewayUrl)).flatMap(([name, value]) => [
      "-c",
      `${name}=${value}`,
    ]);
    const { child, ended } = await spawnRuntime(
      program,
      ["app-server", ...settings],
      environment(context),
      "pipe",
      context,
    );
    const gate = new CodexApprovals(approvals);
    const server = new CodexServer(child, ended, (method, params) => gate.answer(method, params));
    server.subscribe((method, params) => gate.saw(method, params));
    try {
      await server.request("initialize", {
        clientInfo: { name: "berth", title: null, version: "1" },
        // Cleaning up a thread's commands is a part of it.
        capabilities: { experimentalApi: true, requestAttestation: false },
      });
      server.notify("initialized");
      await server.request("skills/extraRoots/set", { extraRoots: [skillsFolder(context)] });
      const open = (id: string | null) => openThread(server, id, context);
      const id = await open(session === latestSession ? null : session);
      return new CodexSession({ server, child, ended, open }, id);
    } catch (error) {
      killTree(child);
      throw new BerthError("runtime_failed", `The runtime did not start: ${(error as Error).message}`, {
        cause: error,
      });
    }
  },
};

const Thread = z.object({ thread: z.object({ id: z.string() }) });

/** Resumes the thread with this id if Codex has it, or begins a new one. Codex keeps none without a turn. */
async function openThread(server: CodexServer, id: string | null, context: StartContext): Promise<string> {
  await removeRules(context);
  const params = {
    cwd: context.home,
    approvalPolicy: "untrusted",
    // The machine is the sandbox.
    sandbox: "danger-full-access",
    config: { mcp_servers: mcpServersOf(context) },
  };
  if (id !== null) {
    try {
      await server.request("thread/resume", { threadId: id, excludeTurns: true, ...params });
      return id;
    } catch (error) {
      context.log(`cannot resume ${id}, beginning a new one: ${(error as Error).message}`);
    }
  }
  return Thread.parse(await server.request("thread/start", params)).thread.id;
}

/**
 * Rules of the agent's own would allow commands without asking. Codex reads them when it opens a thread. Removed as the
 * agent, who may have put a link in their place.
 */
async function removeRules({ home, uid, gid }: StartContext): Promise<void> {
  await run("rm", ["-rf", "--", join(home, ".codex/rules")], { uid, gid });
}

function mcpServersOf(context: StartContext): Record<string, object> {
  const all: [string, McpServer][] = [
    [functionServer, { url: context.functionsUrl }],
    ...Object.entries(context.mcpServers),
  ];
  return Object.fromEntries(all.map(([name, server]) => [name, { ...mcpServerOf(server, context), ...ofEach }]));
}

/** Codex asks before each call, and waits for as long as the tool takes: it may wait for a person. */
const ofEach = { default_tools_approval_mode: "prompt", tool_timeout_sec: 86_400, startup_timeout_sec: 60 };

function mcpServerOf(server: McpServer, context: StartContext): object {
  if ("url" in server) return { url: server.url, http_headers: server.headers ?? {} };
  // Codex passes few variables of its own to a server.
  const env = { ...proxyEnvironment(context), ...server.env };
  return { command: server.command, args: server.args ?? [], env };
}

function environment(context: StartContext): Record<string, string> {
  return { ...loginEnvironment(context), RUST_LOG: "error" };
}

/** Settings by their names, as TOML, which override the agent's own. https://developers.openai.com/codex/config-reference */
function configuration(gatewayUrl: string): Record<string, string> {
  const provider = {
    name: '"Berth"',
    base_url: JSON.stringify(`${gatewayUrl}/openai/v1`),
    wire_api: '"responses"',
    requires_openai_auth: "false",
    supports_websockets: "false",
    // The gateway retries, too.
    request_max_retries: "1",
    stream_max_retries: "1",
  };
  const fields = Object.entries(provider).map(([name, value]) => `${name}=${value}`);
  return {
    "model_providers.berth": `{${fields.join(",")}}`,
    model_provider: '"berth"',
    web_search: '"disabled"',
    check_for_update_on_startup: "false",
    "analytics.enabled": "false",
    show_raw_agent_reasoning: "true",
    // A login shell resets the variables of the agent's secrets.
    allow_login_shell: "false",
    "shell_environment_policy.inherit": '"all"',
    "shell_environment_policy.ignore_default_excludes": "true",
    // The functions of a turn's client come and go.
    "features.mcp_tool_list_changed": "true",
    ...Object.fromEntries(off.map((name) => [`features.${name}`, "false"])),
  };
}

/** Features that call OpenAI's servers or models outside a turn, or use tools without asking. */
const off = [
  "apps",
  "goals",
  "hooks",
  "image_generation",
  "memories",
  "multi_agent",
  "plugins",
  "shell_snapshot",
  "skill_mcp_dependency_install",
  "tool_suggest",
  "unbounded_connection_retries",
  "view_image",
];
