import type { McpServers } from "../contract/mcp-servers.ts";

/** The title of the extension's questions. */
export const approvalTitle = "berth-approval";

/** The settings of the extension. */
export interface PiSettings {
  /** The address of each API, by pi's name for it. */
  apis: Record<string, string>;
  servers: McpServers;
}

/** The model that `/berth-model` switches to, as JSON after the command. */
export interface PiModel {
  /** pi's provider whose catalog may have the model. */
  provider: string;
  api: string;
  name: string;
}

/** The parts of pi's extension interface that are used here. https://pi.dev/docs/extensions */
interface Pi {
  on(
    event: "tool_call",
    handler: (
      call: { toolCallId: string; toolName: string; input: unknown },
      context: Context,
    ) => Promise<object | undefined>,
  ): void;
  registerCommand(name: string, command: { handler: (args: string, context: Context) => Promise<void> }): void;
  registerMcpServer(name: string, server: object): void;
  registerProvider(name: string, provider: object): void;
  setModel(model: object): Promise<boolean>;
}

interface Context {
  modelRegistry: { find(provider: string, name: string): { api: string } | undefined };
  signal: AbortSignal | undefined;
  ui: { input(title: string, placeholder: string, options: object): Promise<string | undefined> };
}

/** The program of an extension of pi with these settings, a JavaScript module. */
export function piExtension(settings: PiSettings): string {
  return `export default (pi) => (${extend})(pi, ${JSON.stringify(settings)});\n`;
}

/** Runs in pi, as its text: it can use nothing of this file. */
function extend(pi: Pi, { apis, servers }: PiSettings): void {
  // An API's key is required, and the gateway accepts any.
  const [anthropic, , openai] = ["anthropic-messages", "openai-completions", "openai-responses"];
  pi.registerProvider("anthropic", { baseUrl: apis[anthropic!], apiKey: "berth" });
  pi.registerProvider("openai", { baseUrl: apis[openai!], apiKey: "berth" });

  // Texts of pi's configuration name variables by `$`, and commands by a leading `!`.
  const literal = (text: string) => text.replaceAll("$", "$$$$").replace(/^!/, "$!");
  const literals = (values: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, literal(value)]));
  for (const [name, server] of Object.entries(servers)) {
    const own = "url" in server ? { headers: literals(server.headers) } : { env: literals(server.env) };
    // A tool waits for as long as a person may take.
    pi.registerMcpServer(name, { ...server, ...own, exposure: "direct", timeout: 86_400 });
  }

  pi.on("tool_call", async ({ toolCallId, toolName, input }, { ui, signal }) => {
    const answer = await ui.input("berth-approval", JSON.stringify({ toolCallId, toolName, input }), { signal });
    return answer === "allow" ? undefined : { block: true, reason: "The user does not allow this." };
  });

  pi.registerCommand("berth-model", {
    async handler(args, { modelRegistry }) {
      const { provider, api, name } = JSON.parse(args) as PiModel;
      const known = modelRegistry.find(provider, name);
      let model = known?.api === api ? known : undefined;
      if (!model) {
        const costs = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
        const limits = { contextWindow: 200_000, maxTokens: 32_000 };
        const entry = { id: name, name, reasoning: false, input: ["text", "image"], cost: costs, ...limits };
        pi.registerProvider(`berth-${api}`, { baseUrl: apis[api], apiKey: "berth", api, models: [entry] });
        model = modelRegistry.find(`berth-${api}`, name);
      }
      if (!model || !(await pi.setModel(model))) throw new Error(`pi cannot use the model ${name}`);
    },
  });
}
