import type { Turn } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { History } from "lucide-react";
import { berth } from "../api/client.ts";
import { agentQuery, snapshotsQuery, turnsKey } from "../api/queries.ts";
import { Confirm } from "../ui/Confirm.tsx";
import { TurnButton } from "./TurnButton.tsx";

/** Goes back to before a message, where the agent keeps a snapshot from then. */
export function RestoreTurn({ agent, turn }: { agent: string; turn: Turn }) {
  const queries = useQueryClient();
  const restore = async () => {
    const changed = await berth.agent(agent).restore(turn.id);
    queries.setQueryData(agentQuery(agent).queryKey, changed);
    await Promise.all([
      queries.invalidateQueries({ queryKey: snapshotsQuery(agent).queryKey }),
      queries.invalidateQueries({ queryKey: turnsKey(agent) }),
    ]);
  };
  return (
    <Confirm
      trigger={(open) => <TurnButton label="Restore to before this message" icon={History} onClick={open} />}
      title="Restore to before this message?"
      action="Restore"
      onConfirm={restore}
    >
      {agent} returns to its state from before this message: files and all conversations. Programs that run now end.
      This turn and later ones are marked as undone. The current state is saved as a snapshot first. Credits are not
      refunded.
    </Confirm>
  );
}
