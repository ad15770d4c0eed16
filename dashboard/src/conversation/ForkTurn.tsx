import type { Turn } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { GitBranch } from "lucide-react";
import { berth } from "../api/client.ts";
import { conversationsQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { messageOf } from "../ui/message.ts";
import { useAction } from "../ui/use-action.ts";

/** Continues a turn in a conversation of its own. */
export function ForkTurn({ agent, turn }: { agent: string; turn: Turn }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const fork = useAction(async () => {
    const { id } = await berth.agent(agent).conversations.create({ from: { turn: turn.id } });
    await queries.invalidateQueries({ queryKey: conversationsQuery(agent).queryKey });
    await navigate({ to: "/agents/$name", params: { name: agent }, search: { conversation: id } });
  });
  return (
    <>
      <Button
        kind="quiet"
        aria-label="Branch off after this reply"
        title="Branch off after this reply"
        className="opacity-0 group-hover/turn:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
        isBusy={fork.isBusy}
        onClick={() => fork.run()}
      >
        <GitBranch className="size-4" aria-hidden />
      </Button>
      {fork.error !== null && <span role="alert">{messageOf(fork.error)}</span>}
    </>
  );
}
