import { useEffect, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";
import { forgetLostWorkspace, lostWorkspace, rememberName } from "./choice.ts";

/** Why the personal workspace is open in place of the chosen one, until the reader dismisses it. */
export function LostWorkspace({ current }: { current: string }) {
  const [lost, setLost] = useState(lostWorkspace);
  useEffect(() => rememberName(current), [current]);
  if (lost === null) return null;
  const dismiss = () => {
    forgetLostWorkspace();
    setLost(null);
  };
  const other = lost === "" ? "the workspace that was open" : lost;
  return (
    <div className="p-3">
      <Notice tone="warn" title="This is your personal workspace" action={<Button onClick={dismiss}>Dismiss</Button>}>
        You are no longer a member of {other}, or it was deleted. An owner or admin can invite you again.
      </Notice>
    </div>
  );
}
