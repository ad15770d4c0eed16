import type { Turn } from "@berth/client";
import { Badge, type Tone } from "../ui/Badge.tsx";

const tones: Readonly<Record<Turn["status"], Tone>> = {
  queued: "neutral",
  running: "accent",
  waiting: "warn",
  completed: "good",
  failed: "bad",
  cancelled: "neutral",
};

/** How a turn ended, that it runs, or that a rollback has undone it. */
export function TurnBadge({ status, undone = false }: { status: Turn["status"]; undone?: boolean }) {
  if (undone) return <Badge>undone</Badge>;
  return (
    <Badge tone={tones[status]} isLive={status === "running"}>
      {status === "cancelled" ? "interrupted" : status}
    </Badge>
  );
}
