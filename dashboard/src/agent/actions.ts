import type { Agent } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useIsClosed } from "../agents/Private.tsx";
import { statuses } from "../agents/status.tsx";
import { runningQuery } from "../api/queries.ts";
import { useMay } from "../workspace/use-may.ts";

/** The actions on an agent that all views have, in the order of its menu. */
export const actions = {
  create: { label: "New conversation", words: "start again, reset, clear, chat" },
  interrupt: { label: "Interrupt", words: "stop, cancel the turn" },
  suspend: { label: "Suspend", words: "sleep, pause, stop the machine" },
  resume: { label: "Resume", words: "wake, start the machine" },
  restart: { label: "Restart…", words: "reboot the machine" },
  fork: { label: "Fork…", words: "copy, duplicate, clone" },
  delete: { label: "Delete…", words: "remove, destroy" },
} as const satisfies Record<string, { label: string; words: string }>;

export type ActionName = keyof typeof actions;

/** Returns the actions that an agent's state and the person's role allow. */
export function useAllowedActions(): (agent: Agent) => ActionName[] {
  const mayUse = useMay("use");
  const isClosed = useIsClosed();
  const { data: running = [] } = useQuery(runningQuery);
  return (agent) => {
    if (!mayUse || agent.status === "deleting") return [];
    const { maySuspend } = statuses[agent.status];
    const isOpen = !isClosed(agent);
    const isMade = isOpen && agent.status !== "provisioning";
    const allowed: Record<ActionName, boolean> = {
      create: isMade && agent.status !== "failed",
      interrupt: isOpen && running.some((turn) => turn.agent === agent.name),
      suspend: maySuspend,
      resume: isOpen && agent.status === "suspended",
      restart: isMade,
      fork: isMade && agent.status !== "failed",
      delete: true,
    };
    return (Object.keys(actions) as ActionName[]).filter((name) => allowed[name]);
  };
}
