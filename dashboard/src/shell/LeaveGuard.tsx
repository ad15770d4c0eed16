import { useBlocker } from "@tanstack/react-router";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { isUnsaved } from "../ui/unsaved.ts";
import { sideIn } from "../workbench/side.ts";

/** A view, and the file that it has open. */
function viewOf({ pathname, search }: { pathname: string; search: object }): string {
  const { beside = "", file = "" } = sideIn(search);
  return `${pathname} ${beside} ${file}`;
}

/** Asks before the page is left with unsaved changes; the browser asks before its tab is closed. */
export function LeaveGuard() {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved() && viewOf(current) !== viewOf(next),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Dialog
      isOpen
      onClose={blocker.reset}
      title="Leave without saving?"
      description="This page has unsaved changes. Leaving discards them; only a draft of instructions stays."
    >
      <div className="flex justify-end gap-2">
        <Button onClick={blocker.reset}>Stay</Button>
        <Button kind="danger" onClick={blocker.proceed}>
          Leave
        </Button>
      </div>
    </Dialog>
  );
}
