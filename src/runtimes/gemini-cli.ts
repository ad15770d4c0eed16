import { join } from "node:path";
import { processor } from "../core/processor.ts";
import { type AcpConnection, startAcp } from "./acp.ts";
import { patchingModule } from "./gemini-patches.ts";
import { loginEnvironment, replaceFile } from "./process.ts";
import { allAbilities, latestSession, type Runtime, type StartContext, skillsFolder } from "./runtime.ts";

/** The model of the throwaway turns, and of an agent of the demonstration model. */
const warmModel = "demo";

/**
 * Google's gemini-cli (https://github.com/google-gemini/gemini-cli) over its own ACP server. The observations here are from
 * version 0.61.0.
 */
export const geminiCli: Runtime = {
  name: "gemini-cli",
  description: "Google's coding agent.",
  package: "@google/gemini-cli",
  abilities: {
    ...allAbilities,
    effort: { supported: false, reason: "gemini-cli sets how much each of its models thinks." },
    steer: { supported: false, reason: "gemini-cli's ACP server takes no messages while a turn runs. They wait." },
  },
  memoryMiB: 1024,
  wires: ["gemini"],
  defaultModels: ["google/gemini-3.1-pro", "google/gemini-3-pro", "google/gemini-2.5-pro", "google/gemini"],
  warmUp: ["Good morning.", "run: echo warm", "run: true"].map((message) => ({ message, model: null })),
  async start(context) {
    const { packages, session, stateFolder } = context;
    const settings = join(stateFolder, "gemini-settings.json");
    const patching = join(stateFolder, "gemini-patches.mjs");
    await replaceFile(settings, JSON.stringify(systemSettings));
    await replaceFile(patching, patchingModule());
    return startAcp(
      {
        command: join(packages, processor.packages.node, "bin/node"),
        args: [
          "--import",
          patching,
          join(packages, "@google/gemini-cli/bundle/gemini.js"),
          ...["--acp", "--model", warmModel, "--extensions", "none"],
        ],
        env: { ...environment(context), GEMINI_CLI_SYSTEM_SETTINGS_PATH: settings },
        session: session === latestSession ? null : session,
        sessionMeta: {},
        authenticationMethod: null,
        async clear(acp) {
          await acp.begin();
          return acp.sessionId;
        },
        closesSessions: false,
        choose: (acp, { model }) => chooseModel(acp, model),
        errorText: null,
        sessionLostText: /^Session not found/,
      },
      context,
    );
  },
};

/** Any name is accepted. */
async function chooseModel({ agent, sessionId }: AcpConnection, model: string | null): Promise<void> {
  const modelId = model === null ? warmModel : model.slice(model.indexOf("/") + 1);
  await agent.request("session/set_model", { sessionId, modelId });
}

function environment(context: StartContext): Record<string, string> {
  return {
    ...loginEnvironment(context),
    GOOGLE_GEMINI_BASE_URL: `${context.gatewayUrl}/google`,
    // Not a secret: the gateway identifies the agent by its connection and adds the key outside the machine.
    GEMINI_API_KEY: "berth",
    // It would start itself once more, with another limit of its memory.
    GEMINI_CLI_NO_RELAUNCH: "true",
    BERTH_SKILLS: skillsFolder(context),
    NO_BROWSER: "1",
  };
}

/**
 * These precede the agent's own `~/.gemini/settings.json`:
 * https://github.com/google-gemini/gemini-cli/blob/main/docs/reference/configuration.md
 */
const systemSettings = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  general: {
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    // The gateway retries.
    maxAttempts: 1,
    retryFetchErrors: false,
    checkpointing: { enabled: false },
    plan: { enabled: false },
    // Berth keeps conversations as long as the agent.
    sessionRetention: { enabled: false },
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  // The list of the home's files would go with each first message.
  context: { includeDirectoryTree: false },
  // These call models on their own, and end turns that are in order.
  model: { disableLoopDetection: true, skipNextSpeakerCheck: true },
  // A hook or a subagent could use tools without asking.
  hooksConfig: { enabled: false },
  experimental: { enableAgents: false, autoMemory: false, directWebFetch: true },
  tools: {
    discoveryCommand: "",
    // It would be fetched from GitHub.
    useRipgrep: false,
    disableLLMCorrection: true,
    shell: { enableInteractiveShell: false },
    exclude: ["google_web_search", "ask_user", "enter_plan_mode", "exit_plan_mode", "invoke_agent"],
  },
};
