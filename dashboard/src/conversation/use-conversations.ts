import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { berth } from "../api/client.ts";
import { conversationsQuery } from "../api/queries.ts";
import { sideIn } from "../workbench/side.ts";

/** Shows a conversation; null: the agent's current one. */
export function useOpen(): (agent: string, conversation: number | null) => void {
  const navigate = useNavigate();
  return (agent, conversation) =>
    void navigate({
      to: "/agents/$name",
      params: { name: agent },
      search: (before: object) => ({ ...sideIn(before), ...(conversation !== null && { conversation }) }),
    });
}

/** Creates a conversation and shows it. `turn`: the id of the one that it continues from; null: it begins empty. */
export function useCreate(): (agent: string, turn: string | null) => Promise<void> {
  const queries = useQueryClient();
  const open = useOpen();
  return async (agent, turn) => {
    const from = turn === null ? {} : { from: { turn } };
    const { id } = await berth.agent(agent).conversations.create(from);
    await queries.invalidateQueries({ queryKey: conversationsQuery(agent).queryKey });
    open(agent, id);
  };
}
