import type { Turn } from "@berth/client";
import type { Virtualizer } from "@tanstack/react-virtual";
import { CircleAlert, type LucideIcon } from "lucide-react";
import { liveTurnsOf } from "./live-turns.ts";

interface ScrollButtonProps {
  label: string;
  icon: LucideIcon;
  onClick: () => void;
}

/** A round button above the end of the conversation. */
export function ScrollButton({ label, icon: Icon, onClick }: ScrollButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="flex gap-1 rounded-full border bg-raised p-2 shadow-md hover:bg-sunken"
    >
      <Icon className="size-4" aria-hidden />
    </button>
  );
}

interface ToErrorProps {
  agent: string;
  turns: readonly Turn[];
  virtualizer: Virtualizer<HTMLElement, Element>;
}

/** Goes to the turn above what is shown that failed, or in which a call failed; from the first one to the last. */
export function ToError({ agent, turns, virtualizer }: ToErrorProps) {
  const isWrong = (turn: Turn) => turn.status === "failed" || liveTurnsOf(agent).hasFailedCall(turn);
  if (!turns.some(isWrong)) return null;
  const go = () => {
    const from = virtualizer.scrollOffset ?? 0;
    const starts = virtualizer.measurementsCache;
    const wrong = [...turns.keys()].filter((at) => isWrong(turns[at]!));
    const next = wrong.findLast((at) => starts[at]!.start < from - 1) ?? wrong.at(-1)!;
    virtualizer.scrollToIndex(next, { align: "start" });
  };
  return <ScrollButton label="Previous error" icon={CircleAlert} onClick={go} />;
}
