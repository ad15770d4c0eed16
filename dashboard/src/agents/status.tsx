import type { Agent } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { runningQuery } from "../api/queries.ts";
import { Badge, type Tone } from "../ui/Badge.tsx";
import { Elapsed } from "../ui/Time.tsx";

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
  provisioning: { word: "setting up", tone: "accent", isLive: true, maySuspend: false },
  ready: { word: "idle", tone: "good", isLive: false, maySuspend: true },
  suspended: { word: "suspended", tone: "neutral", isLive: false, maySuspend: false },
  failed: { word: "failed", tone: "bad", isLive: false, maySuspend: false },
  deleting: { word: "deleting", tone: "warn", isLive: true, maySuspend: false },
} as const satisfies Record<Status, StatusWords>;

/** The agent's status; while a turn runs, that and for how long. */
export function AgentBadge({ agent: { name, status } }: { agent: Agent }) {
  const { data: running = [] } = useQuery(runningQuery);
  const turn = running.find(({ agent }) => agent === name);
  if (turn) {
    const isWorking = turn.status === "running";
    return (
      <Badge tone={isWorking ? "accent" : "warn"} isLive={isWorking}>
        {isWorking ? "working" : "waiting"} <Elapsed since={Date.parse(turn.createdAt)} />
      </Badge>
    );
  }
  const { word, tone, isLive } = statuses[status];
  return (
    <Badge tone={tone} isLive={isLive}>
      {word}
    </Badge>
  );
}
