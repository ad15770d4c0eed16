import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ContentBlock, methods } from "@agentclientprotocol/sdk";
import { type Effort, nearestEffort } from "../contract/effort.ts";
import { BerthError } from "../contract/errors.ts";
import { functionServer } from "../contract/functions.ts";
import { processor } from "../core/processor.ts";
import { type AcpConnection, startAcp } from "./acp.ts";
import { loginEnvironment, replaceFile } from "./process.ts";
import { addedFolder, allAbilities, latestSession, type Runtime, type StartContext } from "./runtime.ts";

/**
 * Claude Code behind its ACP adapter. Its command `/model NAME` switches the running process's model, with everything
 * that Claude Code does differently for it (reasoning, maximum output, betas), in 0.1 s instead of a restart. It
 * accepts any name, and requests one token to check that the model answers.
 */
export const claudeCode: Runtime = {
  name: "claude-code",
  description: "Anthropic's coding agent.",
  package: "@anthropic-ai/claude-agent-sdk",
  abilities: allAbilities,
  memoryMiB: 1536,
  wires: ["messages"],
  defaultModels: null,
  warmUp: ["Good morning.", "run: echo warm", "run: true"].map((message) => ({ message, model: null })),
  async start(context) {
    const { environmentFile } = context;
    // Claude Code removes BASH_ENV from its commands and reads this file only once. So the file sources the other one
    // each time.
    const ownEnvironment = `${environmentFile}-of-claude`;
    await replaceFile(ownEnvironment, `[ ! -r ${environmentFile} ] || . ${environmentFile}\n`);
    return startAcp(
      {
        command: join(context.packages, processor.packages.node, "bin/node"),
        args: [join(context.packages, "@agentclientprotocol/claude-agent-acp/dist/index.js")],
        env: {
          ...loginEnvironment(context),
          ANTHROPIC_BASE_URL: `${context.gatewayUrl}/anthropic`,
          // Not a secret: the gateway identifies the agent by its connection and adds the key outside the machine.
          ANTHROPIC_AUTH_TOKEN: "berth",
          CLAUDE_ENV_FILE: ownEnvironment,
          // Writes its transcript to the file by the end of the turn instead of a tenth of a second later.
          CLAUDE_CODE_EAGER_FLUSH: "1",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          CLAUDE_CODE_MAX_RETRIES: "2",
          DISABLE_AUTOUPDATER: "1",
          IS_SANDBOX: "1",
        },
        session: context.session === latestSession ? await newestTranscript(context.home) : context.session,
        sessionMeta: {
          claudeCode: {
            options: {
              // Each would cost an extra model call in every turn.
              promptSuggestions: false,
              title: "agent",
              additionalDirectories: [addedFolder(context)],
              // Its own rules, which the agent could change, allow nothing that these ask for. The runner decides.
              settings: { permissions: { ask: askedTools(context) } },
              allowDangerouslySkipPermissions: false,
            },
          },
        },
        // The adapter learns that a gateway holds the credentials. Otherwise it runs `claude auth status` with every
        // prompt: five CPU-seconds on a slow machine, when speed matters most.
        authenticationMethod: "gateway",
        clear: (acp) => clear(acp, context.home),
        // Each is a process. To resume one takes as long as its start.
        closesSessions: true,
        async choose(acp, { model, effort }, last) {
          if (model !== last?.model) await chooseModel(acp, model);
          if (effort !== last?.effort) await chooseEffort(acp, effort);
        },
        errorText: "API Error: ",
        // Claude Code is a separate process from its adapter.
        sessionLostText: /^Resource not found|start a new session/i,
      },
      context,
    );
  },
};

/** Claude Code's tools. It asks for unknown ones unless a rule of its own allows them. */
function askedTools({ mcpServers }: StartContext): string[] {
  const servers = [functionServer, ...Object.keys(mcpServers)].map((name) => `mcp__${name}`);
  return [...ownTools, ...servers, "mcp__*"];
}

const ownTools = [
  "Agent",
  "Bash",
  "Edit",
  "Glob",
  "Grep",
  "NotebookEdit",
  "Read",
  "Skill",
  "Task",
  "WebFetch",
  "WebSearch",
  "Write",
];

/** The demonstration model answers to any name, including the default's. */
async function chooseModel(acp: AcpConnection, model: string | null): Promise<void> {
  const name = model?.startsWith("anthropic/") ? model.slice("anthropic/".length) : "default";
  const { updates } = await acp.say(`/model ${name}`);
  const text = updates.map((update) => (update.sessionUpdate === "agent_message_chunk" ? textOf(update) : "")).join("");
  if (/^(Set|Kept) model/.test(text)) return;
  throw new BerthError("model_not_available", `Claude Code cannot use the model ${name}: ${text}`);
}

/** For this session, and all models in it that have levels. Claude Code lowers a level that the model lacks. */
async function chooseEffort(acp: AcpConnection, effort: Effort | null): Promise<void> {
  await acp.say(`/effort ${effort === null ? "auto" : nearestEffort(effort, levels)}`);
}

const levels = ["low", "medium", "high", "xhigh", "max"] as const;

function textOf({ content }: { content: ContentBlock }): string {
  return content.type === "text" ? content.text : "";
}

/**
 * `/clear` starts another session, whose transcript it writes, without reporting its id to the ACP client. It writes to the
 * former one, too, so the newest is not always the new one. Where there is no single new one, a new process has a known id.
 */
async function clear(acp: AcpConnection, home: string): Promise<string> {
  const before = await transcriptsIn(folderOf(home));
  await acp.say("/clear");
  const added = (await transcriptsIn(folderOf(home))).filter((name) => !before.includes(name));
  if (added.length === 1) return basename(added[0]!, ".jsonl");
  await acp.agent.request(methods.agent.session.close, { sessionId: acp.sessionId });
  await acp.begin();
  return acp.sessionId;
}

/** Claude Code keeps one transcript per session, `~/.claude/projects/<working folder, with hyphens>/<id>.jsonl`. */
function folderOf(home: string): string {
  return join(home, ".claude", "projects", home.replaceAll(/[^A-Za-z0-9]/g, "-"));
}

async function transcriptsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(".jsonl"));
}

/** For machines that did not record their sessions. */
async function newestTranscript(home: string): Promise<string | null> {
  const folder = folderOf(home);
  const transcripts = await transcriptsIn(folder);
  const times = await Promise.all(transcripts.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  const newest = transcripts[times.indexOf(Math.max(...times))];
  return newest ? basename(newest, ".jsonl") : null;
}
