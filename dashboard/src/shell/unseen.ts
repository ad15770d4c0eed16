import { useMatchRoute } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { inWorkspace, news } from "../api/client.ts";
import { useTitleCount } from "../ui/title.ts";
import { useIsVisible } from "../ui/use-is-visible.ts";

/** Stands for all agents: Home shows the ended turns of each. */
const everyAgent = "*";
const topic = inWorkspace("berth seen");

/** Counts, in the tab's title, the agents with an ended turn that no tab has shown yet. */
export function useUnseenTurns(): void {
  const shown = useShownAgent();
  const isVisible = useIsVisible();
  const seen = isVisible ? shown : null;
  const [ended, setEnded] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const channel = new BroadcastChannel(topic);
    channel.onmessage = ({ data }: MessageEvent<string>) => setEnded((before) => without(before, data));
    const stop = news.listen((event) => {
      if (event.type === "turn.ended") setEnded((before) => new Set([...before, event.agent]));
      else if (event.type === "agent.deleted") setEnded((before) => without(before, event.agent));
    });
    return () => {
      stop();
      channel.close();
    };
  }, []);
  const left = seen === null ? ended : without(ended, seen);
  useEffect(() => {
    if (seen === null || left.size === ended.size) return;
    setEnded(left);
    const channel = new BroadcastChannel(topic);
    channel.postMessage(seen);
    channel.close();
  }, [seen, left, ended]);
  useTitleCount(left.size);
}

function without(agents: ReadonlySet<string>, seen: string): ReadonlySet<string> {
  return new Set(seen === everyAgent ? [] : [...agents].filter((agent) => agent !== seen));
}

/** The agent whose turns the view shows; null: none. */
function useShownAgent(): string | null {
  const match = useMatchRoute();
  if (match({ to: "/" }) !== false) return everyAgent;
  const agent = match({ to: "/agents/$name" }) || match({ to: "/agents/$name/turns", fuzzy: true });
  return agent === false ? null : agent.name;
}
