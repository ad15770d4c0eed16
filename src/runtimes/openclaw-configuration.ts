import { chmod, chown, mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { functionServer } from "../contract/functions.ts";
import type { McpServers } from "../contract/mcp-servers.ts";
import { claudeModels } from "./claude-models.ts";
import { compileCacheOf, stateOf } from "./openclaw-prepared.ts";
import { loginEnvironment, replaceFile } from "./process.ts";
import { type RuntimeContext, type StartContext, skillsFolder } from "./runtime.ts";

/**
 * OpenClaw's names for the gateway's two APIs. It accepts any model name with them. The second is not its own `openai`,
 * which insists on its own ways to log in.
 */
const apis = { anthropic: "anthropic", openai: "openai-chat" } as const;

const warmModel = { provider: apis.anthropic, model: "demo" };

/** The API and name with which to request a model. */
export function routeOf(model: string | null): { provider: string; model: string } {
  if (model === null || model === "demo/demo") return warmModel;
  const slash = model.indexOf("/");
  const provider = model.slice(0, slash) === "anthropic" ? apis.anthropic : apis.openai;
  return { provider, model: model.slice(slash + 1) };
}

/** The files that OpenClaw reads at startup. It never writes the first. */
function filesOf(context: RuntimeContext) {
  const { environmentFile } = context;
  const state = stateOf(context);
  return {
    /** Its name is one that OpenClaw recognises as a shell. */
    shell: join(dirname(environmentFile), "openclaw-shell/bash"),
    /** Separate from `openclaw.json`, which remains the agent's own. */
    configuration: join(state, "berth.json"),
    settings: join(state, "agents/main/agent/settings.json"),
  };
}

/** Writes the files that OpenClaw reads at startup. */
export async function writeConfiguration(context: StartContext): Promise<void> {
  const { configuration: configurationFile, settings, shell } = filesOf(context);
  for (const folder of [".openclaw", ".openclaw/agents", ".openclaw/agents/main", ".openclaw/agents/main/agent"]) {
    const path = join(context.home, folder);
    await mkdir(path, { mode: 0o700 }).then(
      () => chown(path, context.uid, context.gid),
      () => {}, // It already exists.
    );
  }
  await mkdir(dirname(shell), { recursive: true, mode: 0o755 });
  await replaceFile(shell, shellScript(context));
  await chmod(shell, 0o755);
  await replaceFile(
    configurationFile,
    JSON.stringify(configuration(context, await isFilled(skillsFolder(context)))),
    context,
  );
  await replaceFile(settings, JSON.stringify({ retry: { provider: { maxRetries: modelRetries } } }), context);
}

async function isFilled(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length > 0;
}

/** OpenClaw removes BASH_ENV from its commands, so their shell reads the agent's secret placeholders itself. */
function shellScript({ environmentFile }: RuntimeContext): string {
  return `#!/bin/bash\n[ ! -r ${environmentFile} ] || . ${environmentFile}\nexec /bin/bash "$@"\n`;
}

/**
 * Retries of a failed model call. Otherwise it makes up to nine in over a minute, silently. If an answer broke off, it
 * repeats the part already sent.
 */
const modelRetries = 0;

/** The longest answer to request from Anthropic's models. For models unknown to OpenClaw the default is 4,096. */
const maximumOutputTokens = 32_000;

/**
 * A model that OpenClaw asks to reason, in that model's own way. Any other name works too, but without reasoning,
 * because OpenClaw cannot know that the model can. The context is OpenClaw's default for an unknown model; too small
 * only costs an early summary.
 */
function reasoningModel(id: string): object {
  return { id, name: id, reasoning: true, input: ["text", "image"], contextWindow: 200_000 };
}

/**
 * Depends only on the MCP servers, and on whether there are skills: OpenClaw repeats its migrations whenever this changes, which takes minutes under
 * emulation. So it contains nothing unique. https://docs.openclaw.ai/gateway/configuration-reference
 */
function configuration(context: StartContext, hasSkills: boolean) {
  const { home, gatewayUrl, functionsUrl, runtimePort, mcpServers } = context;
  return {
    gateway: {
      mode: "local",
      port: runtimePort,
      bind: "loopback",
      auth: { mode: "token" },
      controlUi: { enabled: false },
      terminal: { enabled: false },
      cliAgents: { enabled: false },
      // Nothing changes this file while OpenClaw runs.
      reload: { mode: "off" },
    },
    models: {
      mode: "replace",
      catalogRefresh: { enabled: false },
      providers: providers(gatewayUrl),
    },
    agents: {
      defaults: {
        workspace: home,
        // Without files that ask who the agent should be.
        skipBootstrap: true,
        model: { primary: `${warmModel.provider}/${warmModel.model}` },
        // Otherwise an extra model call in every turn, to a model of OpenClaw's choice, for titles that nobody sees.
        utilityModel: "",
        heartbeat: { every: "0m" },
        elevatedDefault: "full",
      },
    },
    mcp: { servers: serversOf({ [functionServer]: { url: functionsUrl }, ...mcpServers }) },
    tools: {
      profile: "coding",
      alsoAllow: ["bundle-mcp"],
      // Offers all tools directly instead of a search for them.
      toolSearch: false,
      // Tools need no approval: the machine is the sandbox.
      exec: { host: "gateway", security: "full", ask: "off", notifyOnExit: false },
      deny: deniedTools,
    },
    ...(hasSkills && { skills: { load: { extraDirs: [skillsFolder(context)] } } }),
    // Features that start on their own, need the internet, or write data that nobody reads.
    cron: { enabled: false },
    diagnostics: { enabled: false },
    discovery: { mdns: { mode: "off" } },
    logging: { level: "silent", consoleLevel: "warn", audit: { enabled: false } },
    plugins: { enabled: false },
    // Without `warn`, conversations idle for a month are archived. After each turn a worker looks for them: two
    // CPU-seconds, during which the next turn waits for the database.
    session: { maintenance: { mode: "warn" }, notifyOnCreate: false },
    transcripts: { enabled: false },
    update: { checkOnStart: false },
  };
}

function serversOf(servers: McpServers) {
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      "url" in server ? { ...server, transport: "streamable-http" } : server,
    ]),
  );
}

function providers(gatewayUrl: string) {
  // The gateway accepts any key. OpenClaw puts a bare key aside for ten minutes or more when a call is refused because
  // of the account. It does not do that with a key declared as a `token`.
  const key = { apiKey: "berth", auth: "token", models: [] as readonly object[] };
  return {
    [apis.anthropic]: {
      ...key,
      baseUrl: `${gatewayUrl}/anthropic`,
      api: "anthropic-messages",
      maxTokens: maximumOutputTokens,
      models: claudeModels.map(reasoningModel),
    },
    [apis.openai]: { ...key, baseUrl: `${gatewayUrl}/openai/v1`, api: "openai-completions" },
  };
}

/** Tools that wait for a person, act after the turn's end, or are for a gateway with screens and other people. */
const deniedTools = [
  "group:automation",
  "group:messaging",
  "group:nodes",
  "group:sessions",
  "group:ui",
  "ask_user",
  "create_goal",
  "get_goal",
  "image_generate",
  "music_generate",
  "progress_card",
  "skill_workshop",
  "update_goal",
  "video_generate",
];

/** The environment of an OpenClaw whose gateway accepts `token`. */
export function environment(context: RuntimeContext, token: string): Record<string, string> {
  return {
    ...loginEnvironment(context),
    NODE_COMPILE_CACHE: compileCacheOf(context),
    SHELL: filesOf(context).shell,
    OPENCLAW_CONFIG_PATH: filesOf(context).configuration,
    OPENCLAW_GATEWAY_TOKEN: token,
    OPENCLAW_DISABLE_BONJOUR: "1",
    // Otherwise it starts the user's shell before the first command to read its environment.
    OPENCLAW_EXEC_SHELL_SNAPSHOT: "0",
    OPENCLAW_NO_AUTO_UPDATE: "1",
    // Otherwise it starts itself a second time, to choose a compile cache.
    OPENCLAW_PACKAGED_COMPILE_CACHE_RESPAWNED: "1",
    OPENCLAW_NO_RESPAWN: "1",
    OPENCLAW_OFFLINE: "1",
    OPENCLAW_SKIP_CHANNELS: "1",
    OPENCLAW_SKIP_CRON: "1",
  };
}
