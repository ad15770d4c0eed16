import type { Turn } from "@berth/client";
import { Badge, type Tone } from "../ui/Badge.tsx";

const tones: Readonly<Record<Turn["status"], Tone>> = {
  running: "accent",
  completed: "good",
  failed: "bad",
  cancelled: "neutral",
};

/** How a turn ended, or that it runs. */
export function TurnBadge({ status }: { status: Turn["status"] }) {
  return (
    <Badge tone={tones[status]} isLive={status === "running"}>
      {status === "cancelled" ? "interrupted" : status}
    </Badge>
  );
}
