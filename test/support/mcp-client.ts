import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** The revisions that are served: the stateless one, and the last with a handshake. */
export const mcpRevisions = ["2026-07-28", "2025-11-25"] as const;

/** The official client, connected with a key. The caller closes it. */
export async function connectMcp(
  { url, key }: { url: string; key: string },
  revision: (typeof mcpRevisions)[number] = mcpRevisions[0],
): Promise<Client> {
  const mode = revision === mcpRevisions[0] ? { pin: revision } : ("legacy" as const);
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

/** The result of a tool that did not fail. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
export async function callTool(client: Client, name: string, given: Record<string, unknown> = {}): Promise<any> {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: given });
  if (isError) throw new Error(JSON.stringify(content));
  return structuredContent;
}

/** The text of a tool that fails. */
export async function refusalOf(client: Client, name: string, given: Record<string, unknown> = {}): Promise<string> {
  const { isError, content } = await client.callTool({ name, arguments: given });
  const [first] = content;
  if (!isError || first?.type !== "text") throw new Error(`not refused: ${JSON.stringify(content)}`);
  return first.text;
}
