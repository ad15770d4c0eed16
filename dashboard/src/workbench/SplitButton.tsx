import { Columns2 } from "lucide-react";
import { Button } from "../ui/Button.tsx";
import { rememberedSplit, type SideName } from "./side.ts";
import { useIsWide } from "./use-is-wide.ts";
import { useSide } from "./use-side.ts";

/** Shows a view next to the conversation: the agent's tab that is open, or the last one. Only on wide screens. */
export function SplitButton({ tab }: { tab: string }) {
  const { side, show } = useSide();
  const isOpen = side !== undefined && tab === "Conversation";
  if (!useIsWide()) return null;
  const ofTab: Readonly<Record<string, SideName>> = {
    Changes: "changes",
    Files: "files",
    Terminal: "terminal",
    Ports: "ports",
  };
  const next = ofTab[tab] ?? rememberedSplit.shown ?? "files";
  return (
    <Button kind="quiet" aria-pressed={isOpen} onClick={() => show(isOpen ? undefined : next)}>
      <Columns2 className="size-4" aria-hidden /> Split view
    </Button>
  );
}
