import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { BerthError } from "../contract/errors.ts";
import { functionServer } from "../contract/functions.ts";
import { processor } from "../core/processor.ts";
import { piExtension } from "./pi-extension.ts";
import { PiProcess } from "./pi-process.ts";
import { PiSession, questionIn, stateOf } from "./pi-session.ts";
import { killTree, loginEnvironment, replaceFile, spawnRuntime } from "./process.ts";
import { allAbilities, latestSession, type Runtime, type StartContext, skillsFolder } from "./runtime.ts";

/**
 * pi (https://pi.dev) in its RPC mode, with an extension that asks before each use of a tool. The observations here are
 * from version 1.6.0.
 */
export const pi: Runtime = {
  name: "pi",
  description: "A small open-source coding agent.",
  package: "@earendil-works/pi-coding-agent",
  abilities: allAbilities,
  memoryMiB: 1024,
  wires: ["messages", "chat", "responses"],
  defaultModels: ["anthropic/claude-sonnet", "anthropic/claude", "openai/gpt-5", "openai/"],
  warmUp: ["Good morning.", "run: echo warm", "run: true"].map((message) => ({ message, model: null })),
  async start(context) {
    const { approvals, gatewayUrl, packages, home, stateFolder } = context;
    const servers = { [functionServer]: { url: context.functionsUrl }, ...context.mcpServers };
    const extension = join(stateFolder, "pi-extension.mjs");
    const apis = {
      "anthropic-messages": `${gatewayUrl}/anthropic`,
      "openai-completions": `${gatewayUrl}/openai/v1`,
      "openai-responses": `${gatewayUrl}/openai/v1`,
    };
    await replaceFile(extension, piExtension({ apis, servers }));
    const { child, ended } = await spawnRuntime(
      join(packages, processor.packages.node, "bin/node"),
      [join(packages, "@earendil-works/pi-coding-agent/dist/bundle/rpc-entry.js"), ...options(extension, context)],
      environment(context),
      "pipe",
      context,
    );
    const process = new PiProcess(child, ended);
    process.subscribe(async (record) => {
      const question = questionIn(record, Object.keys(servers), home);
      if (!question) return;
      const isAllowed = question.use !== null && (await approvals.mayUse(question.use));
      const answer = question.use === null ? { cancelled: true } : { value: isAllowed ? "allow" : "deny" };
      process.send({ type: "extension_ui_response", id: question.id, ...answer });
    });
    try {
      // The gateway retries. After a part of an answer, pi would begin it again.
      await process.request({ type: "set_auto_retry", enabled: false });
      const { sessionId } = await stateOf(process);
      return new PiSession(process, sessionId, (id) => sessionFile(home, id));
    } catch (error) {
      killTree(child);
      throw new BerthError("runtime_failed", `The runtime did not start: ${(error as Error).message}`, {
        cause: error,
      });
    }
  },
};

/** https://pi.dev/docs/cli */
function options(extension: string, context: StartContext): string[] {
  const { session } = context;
  // An extension of the agent's own could use tools without asking.
  const resources = ["--no-extensions", "--extension", "builtin:mcp", "--extension", extension, "--no-approve"];
  const skills = ["--skill", skillsFolder(context)];
  const earlier = session === latestSession ? ["--continue"] : session === null ? [] : ["--session-id", session];
  return [...resources, ...skills, ...earlier];
}

function environment(context: StartContext): Record<string, string> {
  return { ...loginEnvironment(context), PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" };
}

/** The file of a session in pi's folder for the agent's home; null: there is none. */
async function sessionFile(home: string, id: string): Promise<string | null> {
  const folder = join(home, ".pi/agent/sessions", `--${home.replace(/^\//, "").replaceAll(/[/\\:]/g, "-")}--`);
  const names = await readdir(folder).catch(() => []);
  const name = names.find((each) => each.endsWith(`_${id}.jsonl`));
  return name === undefined ? null : join(folder, name);
}
