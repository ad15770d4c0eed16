import { Redo2, Undo2 } from "lucide-react";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { ConfirmDialog } from "../ui/Confirm.tsx";
import { useStoredState } from "../ui/stored-state.ts";
import { visible } from "./visible.ts";

interface RevertProps {
  agent: string;
  turnId: string;
  name: string;
}

/** Takes back a turn's change of a file, and makes it again. */
export function RevertFile({ agent, turnId, name }: RevertProps) {
  const [isAsking, setAsking] = useState(false);
  const [isReverted, setReverted] = useStoredState(`reverted ${agent} ${turnId} ${name}`, false);
  const Icon = isReverted ? Redo2 : Undo2;
  const act = async () => {
    await berth.agent(agent).revert(turnId, { files: [name], to: isReverted ? "after" : "before" });
    setReverted(!isReverted);
  };
  return (
    <>
      <span role="status" className="text-xs text-good">
        {isReverted && "Reverted"}
      </span>
      <Button kind="quiet" onClick={() => setAsking(true)}>
        <Icon className="size-4" aria-hidden />
        {isReverted ? "Undo revert" : "Revert file"}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={isReverted ? "Make the change again?" : "Revert this file?"}
        action={isReverted ? "Make the change" : "Revert file"}
        onConfirm={act}
      >
        {isReverted
          ? `The turn's change of ${visible(name)} is made again.`
          : `The turn's change of ${visible(name)} is taken back. Later changes at other lines stay. The agent does not learn of it.`}
      </ConfirmDialog>
    </>
  );
}
