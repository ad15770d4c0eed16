import { chmod, chown, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { claudeModels } from "./claude-models.ts";
import { loginEnvironment, replaceFile } from "./process.ts";
import type { RuntimeContext } from "./runtime.ts";

/**
 * The names under which OpenClaw knows the gateway's two APIs. It takes any model's name with them. The second is not
 * its own `openai`, which has ways of its own to log in and insists on them.
 */
const apis = { anthropic: "anthropic", openai: "openai-chat" } as const;

const warmModel = { provider: apis.anthropic, model: "demo" };

/** Which API is to be asked for which name. */
export function routeOf(model: string | null): { provider: string; model: string } {
  if (model === null || model === "demo/demo") return warmModel;
  const slash = model.indexOf("/");
  const provider = model.slice(0, slash) === "anthropic" ? apis.anthropic : apis.openai;
  return { provider, model: model.slice(slash + 1) };
}

/** What OpenClaw reads at its start; it never writes the first. */
function filesOf({ home, environmentFile }: RuntimeContext) {
  const state = join(home, ".openclaw");
  return {
    /** Under a name that it knows as a shell's. */
    shell: join(dirname(environmentFile), "openclaw-shell/bash"),
    /** Beside `openclaw.json`, which stays the agent's own. */
    configuration: join(state, "berth.json"),
    settings: join(state, "agents/main/agent/settings.json"),
  };
}

/** Writes what OpenClaw reads at its start: where it listens, and with which token it is reached. */
export async function writeConfiguration(context: RuntimeContext, port: number, token: string): Promise<void> {
  const { configuration: configurationFile, settings, shell } = filesOf(context);
  for (const folder of [".openclaw", ".openclaw/agents", ".openclaw/agents/main", ".openclaw/agents/main/agent"]) {
    const path = join(context.home, folder);
    await mkdir(path, { mode: 0o700 }).then(
      () => chown(path, context.uid, context.gid),
      () => {}, // It is there.
    );
  }
  await mkdir(dirname(shell), { recursive: true, mode: 0o755 });
  await replaceFile(shell, shellScript(context));
  await chmod(shell, 0o755);
  await replaceFile(configurationFile, JSON.stringify(configuration(context, port, token)), context);
  await replaceFile(settings, JSON.stringify({ retry: { provider: { maxRetries: modelRetries } } }), context);
}

/** It takes BASH_ENV from its commands: so their shell itself reads what stands for the agent's secrets. */
function shellScript({ environmentFile }: RuntimeContext): string {
  return `#!/bin/bash\n[ ! -r ${environmentFile} ] || . ${environmentFile}\nexec /bin/bash "$@"\n`;
}

/**
 * Of a model call that failed. Up to nine in over a minute otherwise, without a word; and where an answer broke off,
 * what was said of it is said again.
 */
const modelRetries = 0;

/** The longest answer that is asked of Anthropic's models; 4,096 otherwise where OpenClaw does not know the model. */
const maximumOutputTokens = 32_000;

/**
 * A model that OpenClaw asks to reason, in the way that is the model's. Any other name works too, but without: it cannot
 * know that the model can. The context is what OpenClaw takes of a model that it does not know: too small
 * only costs an early summary.
 */
function reasoningModel(id: string): object {
  return { id, name: id, reasoning: true, input: ["text", "image"], contextWindow: 200_000 };
}

/** https://docs.openclaw.ai/gateway/configuration-reference */
function configuration({ home, gatewayUrl }: RuntimeContext, port: number, token: string) {
  // The gateway takes any key. A bare key is put aside for ten minutes and more when a call is refused for the
  // account's sake; one that is said to be a `token` is not.
  const key = { apiKey: "berth", auth: "token", models: [] as readonly object[] };
  return {
    gateway: {
      mode: "local",
      port,
      bind: "loopback",
      auth: { mode: "token", token },
      controlUi: { enabled: false },
      terminal: { enabled: false },
      cliAgents: { enabled: false },
      // Nothing changes this file while it runs.
      reload: { mode: "off" },
    },
    models: {
      mode: "replace",
      catalogRefresh: { enabled: false },
      providers: {
        [apis.anthropic]: {
          ...key,
          baseUrl: `${gatewayUrl}/anthropic`,
          api: "anthropic-messages",
          maxTokens: maximumOutputTokens,
          models: claudeModels.map(reasoningModel),
        },
        [apis.openai]: { ...key, baseUrl: `${gatewayUrl}/openai/v1`, api: "openai-completions" },
      },
    },
    agents: {
      defaults: {
        workspace: home,
        // No files that ask who the agent is to be.
        skipBootstrap: true,
        model: { primary: `${warmModel.provider}/${warmModel.model}` },
        // A model call of its own in every turn, to a model of OpenClaw's choice, for titles that nobody sees.
        utilityModel: "",
        heartbeat: { every: "0m" },
        elevatedDefault: "full",
      },
    },
    tools: {
      profile: "coding",
      // All are offered as they are, in place of a search for them.
      toolSearch: false,
      // Tools need no approval: the machine is the sandbox.
      exec: { host: "gateway", security: "full", ask: "off", notifyOnExit: false },
      deny: deniedTools,
    },
    // What would work on its own, look for the internet, or write down what nobody reads.
    cron: { enabled: false },
    diagnostics: { enabled: false },
    discovery: { mdns: { mode: "off" } },
    logging: { level: "silent", consoleLevel: "warn", audit: { enabled: false } },
    plugins: { enabled: false },
    // In place of `warn`, conversations that rest for a month are put away, and after each turn a worker looks for
    // them: two CPU-seconds, in which the next turn waits for the database.
    session: { maintenance: { mode: "warn" }, notifyOnCreate: false },
    transcripts: { enabled: false },
    update: { checkOnStart: false },
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

export function environment(context: RuntimeContext): Record<string, string> {
  return {
    ...loginEnvironment(context),
    SHELL: filesOf(context).shell,
    OPENCLAW_CONFIG_PATH: filesOf(context).configuration,
    OPENCLAW_DISABLE_BONJOUR: "1",
    // Starts the user's shell for its environment before the first command otherwise.
    OPENCLAW_EXEC_SHELL_SNAPSHOT: "0",
    OPENCLAW_NO_AUTO_UPDATE: "1",
    OPENCLAW_NO_RESPAWN: "1",
    OPENCLAW_OFFLINE: "1",
    OPENCLAW_SKIP_CHANNELS: "1",
    OPENCLAW_SKIP_CRON: "1",
  };
}
