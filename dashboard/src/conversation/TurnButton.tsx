import type { LucideIcon } from "lucide-react";
import { Button } from "../ui/Button.tsx";

interface TurnButtonProps {
  label: string;
  icon: LucideIcon;
  isBusy?: boolean;
  onClick: () => void;
}

/** An action on a turn. It appears when the pointer is over the turn, and always on touch screens. */
export function TurnButton({ label, icon: Icon, isBusy = false, onClick }: TurnButtonProps) {
  return (
    <Button
      kind="quiet"
      aria-label={label}
      title={label}
      className="opacity-0 group-hover/turn:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
      isBusy={isBusy}
      onClick={onClick}
    >
      <Icon className="size-4" aria-hidden />
    </Button>
  );
}
