import type { McpServers as Servers } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { agentQuery, secretsQuery } from "../api/queries.ts";
import { Section } from "../ui/View.tsx";
import { McpServerList } from "./McpServerList.tsx";

/** Servers whose tools the agent has in addition to its runtime's own. */
export function McpServers({ name, servers }: { name: string; servers: Servers }) {
  const queries = useQueryClient();
  const { data: secrets } = useQuery(secretsQuery(name));
  /** Another page may have changed the others since. */
  const change = async (next: (current: Servers) => Servers) => {
    const handle = berth.agent(name);
    const changed = await handle.update({ mcpServers: next((await handle.get()).mcpServers) });
    queries.setQueryData(agentQuery(name).queryKey, changed);
  };
  return (
    <Section title="MCP servers">
      <p className="text-sm text-muted">Adds these servers' tools from the next turn.</p>
      <McpServerList servers={servers} secrets={secrets?.map((secret) => secret.name) ?? null} onChange={change} />
    </Section>
  );
}
