import type { Agent } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useMatchRoute, useNavigate } from "@tanstack/react-router";
import fuzzysort from "fuzzysort";
import { useAct } from "../agent/AgentActions.tsx";
import { actions, useAllowedActions } from "../agent/actions.ts";
import { useAgentTabs } from "../agent/tabs.ts";
import { useIsClosed } from "../agents/Private.tsx";
import { statuses } from "../agents/status.tsx";
import { agentsQuery, runningQuery } from "../api/queries.ts";
import { useMay } from "../workspace/use-may.ts";
import type { Place } from "./places.ts";
import { signOut } from "./sign-out.ts";
import { type Theme, useTheme } from "./theme.ts";

export interface Command {
  label: string;
  hint: string;
  /** Other words that find it. */
  words: string;
  go: () => void;
}

// An interface is no `Group` of Base UI's.
export type Group<Item = Command> = { value: string; items: Item[] };

/** Matches below this score have little in common with what is typed; 1 is the best. */
const lowestScore = 0.3;
/** How many of a group are shown for what is typed. */
const mostOfGroup = 8;

const themes: readonly { value: Theme; label: string }[] = [
  { value: "light", label: "Light theme" },
  { value: "dark", label: "Dark theme" },
  { value: "system", label: "Use system theme" },
];

/**
 * The commands for what is typed, in groups, the best match first. Nothing typed: the views, what can be done, and the
 * agents, after the views and actions of the agent that is shown.
 */
export function useCommands(places: readonly Place[], openShortcuts: () => void, typed: string): Group[] {
  const navigate = useNavigate();
  const act = useAct();
  const { data: agents = [] } = useQuery(agentsQuery);
  const { data: running = [] } = useQuery(runningQuery);
  const [, setTheme] = useTheme();
  const mayUse = useMay("use");
  const tabs = useAgentTabs();
  const allowed = useAllowedActions();
  const isClosed = useIsClosed();
  const match = useMatchRoute()({ to: "/agents/$name", fuzzy: true });
  const ofAgent = (agent: Agent): Command[] => [
    ...(isClosed(agent) ? [] : tabs).map(({ to, name: tab, words }) => ({
      label: `${agent.name}: ${tab}`,
      hint: "",
      words,
      go: () => void navigate({ to, params: { name: agent.name } }),
    })),
    ...allowed(agent).map((action) => ({
      label: `${agent.name}: ${actions[action].label}`,
      hint: "",
      words: actions[action].words,
      go: () => act(action, agent.name),
    })),
  ];
  const shown = agents.find(({ name }) => match !== false && name === match.name);
  const views: Command[] = [
    ...places.map(({ name, key, to, words }) => ({
      label: name,
      hint: `g ${key}`,
      words,
      go: () => void navigate({ to }),
    })),
    {
      label: "Notifications",
      hint: "",
      words: "settings, e-mail, push, alerts",
      go: () => void navigate({ to: "/notifications" }),
    },
  ];
  const doing: Command[] = [
    { label: "Create an agent", hint: "c", words: "new, add", go: () => void navigate({ to: "/create-agent" }) },
    ...themes.map(({ value, label }) => ({
      label,
      hint: "",
      words: "settings, appearance, colours, mode",
      go: () => setTheme(value),
    })),
    { label: "Keyboard shortcuts", hint: "?", words: "help, keys", go: openShortcuts },
    { label: "Sign out", hint: "", words: "log out, logout, leave", go: () => void signOut(false) },
  ];
  const groups: Group[] = [
    { value: shown?.name ?? "", items: shown ? ofAgent(shown) : [] },
    { value: "Go to", items: views },
    { value: "Do", items: mayUse ? doing : doing.slice(1) },
    {
      value: "Agents",
      items: agents.map(({ name, status }) => ({
        label: name,
        hint: running.some(({ agent }) => agent === name) ? "working" : statuses[status].word,
        words: "",
        go: () => void navigate({ to: "/agents/$name", params: { name } }),
      })),
    },
  ];
  if (typed.trim() === "") return groups.filter(({ items }) => items.length > 0);
  const others = agents.filter((agent) => agent !== shown).flatMap(ofAgent);
  return matching([...groups, { value: "In other agents", items: others }], typed);
}

function matching(groups: readonly Group[], typed: string): Group[] {
  return groups
    .map(({ value, items }) => {
      const found = fuzzysort.go(typed, items, {
        keys: ["label", "words"],
        threshold: lowestScore,
        limit: mostOfGroup,
      });
      return { value, items: found.map(({ obj }) => obj), score: found[0]?.score ?? 0 };
    })
    .filter(({ items }) => items.length > 0)
    .toSorted((one, other) => other.score - one.score);
}
