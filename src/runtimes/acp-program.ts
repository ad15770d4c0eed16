import { BerthError } from "../contract/errors.ts";
import { type AcpConnection, chooseEffort, startAcp, valuesOf } from "./acp.ts";
import { loginEnvironment } from "./process.ts";
import { allAbilities, latestSession, type Runtime, type StartContext } from "./runtime.ts";

const unknown = "This depends on the agent's program.";

/**
 * Any program in the machine that speaks the Agent Client Protocol (https://agentclientprotocol.com) on its standard input
 * and output: the agent's setting `acp` names it.
 */
export const acp: Runtime = {
  name: "acp",
  description: "Any program that speaks the Agent Client Protocol.",
  package: null,
  needsProgram: true,
  abilities: {
    ...allAbilities,
    model: { supported: true, reason: "For programs that let their client choose a model." },
    effort: { supported: true, reason: "For programs that let their client choose it." },
    tools: { supported: true, reason: unknown },
    reasoning: { supported: true, reason: unknown },
    usage: { supported: true, reason: "For model calls that go to the gateway." },
    instructions: { supported: true, reason: "For model calls that go to the gateway." },
    permissions: { supported: false, reason: "The program decides which tools it asks for." },
    steer: {
      supported: true,
      reason: "For programs with the extension `_session/steering`. For others, messages wait.",
    },
    output: { supported: true, reason: "For programs that take MCP servers over HTTP." },
  },
  memoryMiB: 1536,
  wires: ["messages", "chat", "responses", "gemini"],
  defaultModels: null,
  warmUp: [],
  async start(context) {
    const { program, session } = context;
    if (!program) throw new BerthError("runtime_failed", "The agent has no program: set `acp`.");
    return startAcp(
      {
        command: program.command,
        args: program.args,
        env: environment(context),
        session: session === latestSession ? null : session,
        sessionMeta: {},
        authenticationMethod: null,
        async clear(connection) {
          await connection.begin();
          return connection.sessionId;
        },
        closesSessions: false,
        async choose(connection, { model, effort }) {
          await chooseModel(connection, model);
          await chooseEffort(connection, effort);
        },
        errorText: null,
        sessionLostText: null,
      },
      context,
    );
  },
};

/** By these names most programs find the models of the APIs. */
function environment(context: StartContext): Record<string, string> {
  const { gatewayUrl } = context;
  return {
    ...loginEnvironment(context),
    ANTHROPIC_BASE_URL: `${gatewayUrl}/anthropic`,
    OPENAI_BASE_URL: `${gatewayUrl}/openai/v1`,
    GOOGLE_GEMINI_BASE_URL: `${gatewayUrl}/google`,
    // Not secrets: the gateway identifies the agent by its connection and adds the keys outside the machine.
    ANTHROPIC_API_KEY: "berth",
    OPENAI_API_KEY: "berth",
    GEMINI_API_KEY: "berth",
  };
}

/** Chooses the program's model of this name. Without one, the program keeps its own. */
async function chooseModel(connection: AcpConnection, model: string | null): Promise<void> {
  if (model === null || model === "demo/demo") return;
  const option = connection.options.find(({ category, type }) => category === "model" && type === "select");
  const name = model.slice(model.indexOf("/") + 1);
  const offered = option ? valuesOf(option) : [];
  const value =
    offered.find((each) => each === model || each === name) ?? offered.find((each) => each.endsWith(`/${name}`));
  if (option && value !== undefined) {
    await connection.set(option.id, value);
    return;
  }
  const offers = offered.length === 0 ? "offers no choice of models" : `offers ${offered.slice(0, 20).join(", ")}`;
  throw new BerthError("model_not_available", `The agent's program has no model ${name}: it ${offers}.`);
}
