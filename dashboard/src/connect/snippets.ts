/** The values of a snippet: the service's address, the agent's name, and a key or its placeholder. */
interface Target {
  url: string;
  agent: string;
  key: string;
}

interface Snippet {
  /** Where the text belongs: a shell, or a file. */
  where: string;
  text: string;
}

interface Client {
  label: string;
  note: string;
  /** Whether the snippets contain the key. The others use a sign-in. */
  hasKey: boolean;
  snippets: (target: Target) => readonly Snippet[];
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** The programs that can use an agent, in the order of the page. */
export const clients = {
  curl: {
    label: "curl",
    note: "The reply arrives as server-sent events.",
    hasKey: true,
    snippets: ({ url, agent, key }) => [
      {
        where: "Shell",
        text: `curl -N ${url}/agents/${agent}/chat \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"message": "What can you do?"}'`,
      },
    ],
  },
  typescript: {
    label: "TypeScript",
    note: "The client resumes a reply after a lost connection.",
    hasKey: true,
    snippets: ({ url, agent, key }) => [
      {
        where: "@berth/client",
        text: `import { Berth } from "@berth/client";

const berth = new Berth({ url: "${url}", key: "${key}" });
for await (const event of berth.agent("${agent}").chat("What can you do?")) {
  if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
}`,
      },
    ],
  },
  openai: {
    label: "OpenAI SDK",
    note: "The agent is a model of OpenAI's Responses and Chat Completions.",
    hasKey: true,
    snippets: ({ url, agent, key }) => [
      {
        where: "JavaScript",
        text: `import OpenAI from "openai";

const openai = new OpenAI({ baseURL: "${url}/v1", apiKey: "${key}" });
const response = await openai.responses.create({ model: "${agent}", input: "What can you do?" });
console.log(response.output_text);`,
      },
      {
        where: "Python",
        text: `from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key="${key}")
response = client.responses.create(model="${agent}", input="What can you do?")
print(response.output_text)`,
      },
    ],
  },
  mcp: {
    label: "MCP",
    note: "Assistants such as Claude Code ask the agent with a tool.",
    hasKey: true,
    snippets: ({ url, key }) => [
      {
        where: "Claude Code",
        text: `claude mcp add --transport http berth ${url}/mcp --header "Authorization: Bearer ${key}"`,
      },
      {
        where: "Other clients",
        text: json({ mcpServers: { berth: { url: `${url}/mcp`, headers: { Authorization: `Bearer ${key}` } } } }),
      },
    ],
  },
  tool: {
    label: "berth",
    note: "The command line tool signs in with the browser.",
    hasKey: false,
    snippets: ({ url, agent }) => [
      { where: "Once", text: `npm install --global @berth/cli\nberth profiles add berth --url ${url}\nberth login` },
      { where: "Shell", text: `berth chat ${agent} "What can you do?"` },
    ],
  },
  ssh: {
    label: "SSH",
    note: "OpenSSH reaches the agent's machine through the command line tool, which manages the keys.",
    hasKey: false,
    snippets: ({ agent }) => [
      { where: "Once, after berth login", text: "berth ssh-config" },
      { where: "Shell", text: `ssh ${agent}.berth\nrsync -a src/ ${agent}.berth:src/` },
    ],
  },
  vscode: {
    label: "VS Code",
    note: "With the extension Remote - SSH.",
    hasKey: false,
    snippets: ({ agent }) => [
      { where: "Once, after berth login", text: "berth ssh-config" },
      { where: "Shell", text: `code --remote ssh-remote+${agent}.berth /home/agent` },
    ],
  },
  editors: {
    label: "Editors (ACP)",
    note: "Editors with the Agent Client Protocol run the command line tool.",
    hasKey: false,
    snippets: ({ agent }) => [
      {
        where: "Zed, in settings.json",
        text: json({ agent_servers: { [agent]: { type: "custom", command: "berth", args: ["acp", agent] } } }),
      },
      {
        where: "JetBrains, in ~/.jetbrains/acp.json",
        text: json({ agent_servers: { [agent]: { command: "berth", args: ["acp", agent] } } }),
      },
    ],
  },
  protocols: {
    label: "A2A, AG-UI",
    note: "With the key as a bearer token.",
    hasKey: true,
    snippets: ({ url, agent, key }) => [
      { where: "A2A: the agent card", text: `${url}/agents/${agent}/a2a/.well-known/agent-card.json` },
      { where: "AG-UI", text: `${url}/agents/${agent}/agui` },
      { where: "Header of both", text: `Authorization: Bearer ${key}` },
    ],
  },
} as const satisfies Record<string, Client>;
