import type { Turn } from "@berth/client";
import { GitBranch } from "lucide-react";
import { messageOf } from "../ui/message.ts";
import { useAction } from "../ui/use-action.ts";
import { TurnButton } from "./TurnButton.tsx";
import { useCreate } from "./use-conversations.ts";

/** Continues a turn in a conversation of its own. */
export function ForkTurn({ agent, turn }: { agent: string; turn: Turn }) {
  const fork = useAction(useCreate());
  return (
    <>
      <TurnButton
        label="Branch off after this reply"
        icon={GitBranch}
        isBusy={fork.isBusy}
        onClick={() => fork.run(agent, turn.id)}
      />
      {fork.error !== null && <span role="alert">{messageOf(fork.error)}</span>}
    </>
  );
}
