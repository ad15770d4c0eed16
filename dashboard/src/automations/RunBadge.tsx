import type { AutomationRun } from "@berth/client";
import { Badge, type Tone } from "../ui/Badge.tsx";

const tones: Readonly<Record<AutomationRun["status"], Tone>> = {
  queued: "neutral",
  running: "accent",
  completed: "good",
  failed: "bad",
  cancelled: "neutral",
  skipped: "neutral",
  replaced: "neutral",
};

/** How a run ended, or that it has not. */
export function RunBadge({ status }: { status: AutomationRun["status"] }) {
  return (
    <Badge tone={tones[status]} isLive={status === "running"}>
      {status}
    </Badge>
  );
}
