import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import { useAct } from "../agent/AgentActions.tsx";
import { actions, useAllowedActions } from "../agent/actions.ts";
import { useAgentTabs } from "../agent/tabs.ts";
import { agentQuery } from "../api/queries.ts";
import { allFilesQuery, matchingPaths } from "../files/all-files.ts";

interface Suggestion {
  label: string;
  hint: string;
  take: () => void;
}

interface Written {
  text: string;
  caret: number;
  /** Sets the text and the place of the caret. */
  write: (text: string, caret: number) => void;
}

export type Suggestions = ReturnType<typeof useSuggestions>;

/** A file that is being named: `@` and a part of its path, before the caret. */
const mention = /(?<=^|\s)@([^\s@]*)$/;
/** The whole text is the beginning of a command. */
const command = /^\/([a-z-]*)$/;
const mostFiles = 20;

/** The suggestions for what is written before the caret: files after `@`, commands after `/`. Keys choose one. */
export function useSuggestions(agent: string, written: Written) {
  const { text, caret } = written;
  const [chosen, setChosen] = useState({ of: "", at: 0 });
  /** The text before the caret when the list was closed. */
  const [closed, setClosed] = useState<string | null>(null);
  const before = text.slice(0, caret);
  const files = useFiles(agent, written);
  const commands = useCommands(agent, written);
  const isCommand = command.test(text);
  const items = isCommand ? commands : files;
  const isOpen = items.length > 0 && closed !== before;
  const active = chosen.of === before ? Math.min(chosen.at, items.length - 1) : 0;
  const take = (at: number) => items[at]!.take();
  const press = ({ key, shiftKey }: KeyboardEvent): boolean => {
    if (!isOpen || shiftKey) return false;
    const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setChosen({ of: before, at: (active + step + items.length) % items.length });
    else if (key === "Escape") setClosed(before);
    else if (key === "Enter" || key === "Tab") take(active);
    else return false;
    return true;
  };
  return {
    isOpen,
    title: isCommand ? "Commands" : "Files",
    items,
    active,
    take,
    press,
    close: () => setClosed(before),
  };
}

function useFiles(agent: string, { text, caret, write }: Written): Suggestion[] {
  const found = mention.exec(text.slice(0, caret));
  const { data } = useQuery({ ...allFilesQuery(agent), enabled: found !== null });
  if (found === null) return [];
  const start = found.index + 1;
  return matchingPaths(data?.data ?? [], found[1]!)
    .slice(0, mostFiles)
    .map((path) => {
      const whole = /\s/.test(path) ? `"${path}" ` : `${path} `;
      return {
        label: path,
        hint: "",
        take: () => write(text.slice(0, start) + whole + text.slice(caret).trimStart(), start + whole.length),
      };
    });
}

function useCommands(name: string, { text, write }: Written): Suggestion[] {
  const { data: agent } = useQuery(agentQuery(name));
  const navigate = useNavigate();
  const act = useAct();
  const allowed = useAllowedActions();
  const tabs = useAgentTabs();
  const begun = command.exec(text)?.[1];
  if (begun === undefined || !agent) return [];
  const run = (go: () => void) => () => {
    write("", 0);
    go();
  };
  const all: Suggestion[] = [
    ...allowed(agent).map((action) => ({
      label: `/${action === "create" ? "new" : action}`,
      hint: actions[action].label,
      take: run(() => act(action, name)),
    })),
    ...tabs.slice(1).map(({ to, name: tab }) => ({
      label: `/${tab.toLowerCase()}`,
      hint: `Open ${tab}`,
      take: run(() => void navigate({ to, params: { name } })),
    })),
  ];
  return all.filter(({ label }) => label.slice(1).startsWith(begun));
}
