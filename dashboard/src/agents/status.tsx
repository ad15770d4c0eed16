import type { Agent } from "@berth/client";
import { Badge, type Tone } from "../ui/Badge.tsx";

type Status = Agent["status"];

interface StatusWords {
  word: string;
  tone: Tone;
  /** It is still in progress. */
  isLive: boolean;
  /** Whether the service takes a suspend. */
  maySuspend: boolean;
}

/** Each status's label, and the actions that it allows. */
export const statuses = {
  provisioning: { word: "being set up", tone: "accent", isLive: true, maySuspend: false },
  ready: { word: "awake", tone: "good", isLive: false, maySuspend: true },
  suspended: { word: "asleep", tone: "neutral", isLive: false, maySuspend: false },
  failed: { word: "failed", tone: "bad", isLive: false, maySuspend: false },
  deleting: { word: "being deleted", tone: "warn", isLive: true, maySuspend: false },
} as const satisfies Record<Status, StatusWords>;

export function AgentBadge({ status }: { status: Status }) {
  const { word, tone, isLive } = statuses[status];
  return (
    <Badge tone={tone} isLive={isLive}>
      {word}
    </Badge>
  );
}
