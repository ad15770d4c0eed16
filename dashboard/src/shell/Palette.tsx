import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import type { SearchMatch } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { type AgentTab, useAgentTabs } from "../agent/tabs.ts";
import { useIsClosed } from "../agents/Private.tsx";
import { statuses } from "../agents/status.tsx";
import { agentsQuery } from "../api/queries.ts";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { useMay } from "../workspace/use-may.ts";
import { Excerpt } from "./Excerpt.tsx";
import type { Place } from "./places.ts";
import { signOut } from "./sign-out.ts";
import { useTheme } from "./theme.ts";
import { useFound } from "./use-found.ts";

interface Command {
  label: string;
  hint: string;
  go: () => void;
  /** A message or reply that was found, which the label only names. */
  match?: SearchMatch;
}

interface Group {
  value: string;
  items: Command[];
}

/** Goes anywhere, does what needs no more than a name, and finds messages and replies. */
export function Palette({ places, onClose }: { places: readonly Place[]; onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const { matches, isSearching, error } = useFound(typed);
  const groups = [...useGroups(places), ...useFoundGroup(matches)];
  const { contains } = Autocomplete.useFilter({ sensitivity: "base" });
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          aria-label="Go to"
          className="fixed inset-x-4 top-[12vh] z-50 mx-auto max-w-lg overflow-hidden rounded-2xl border bg-raised shadow-xl"
        >
          <Autocomplete.Root
            items={groups}
            value={typed}
            onValueChange={setTyped}
            filter={(command: Command, text: string) => command.match !== undefined || contains(command.label, text)}
            itemToStringValue={({ label }: Command) => label}
            inline
            open
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label="Go to a view or an agent, do something, or search messages"
              placeholder="Go to a view or agent, do, or search…"
              className="w-full border-b bg-transparent px-4 py-3 outline-none placeholder:text-muted"
            />
            <Autocomplete.Empty>
              {!isSearching && error === null && (
                <p className="px-4 py-6 text-center text-sm text-muted">No matches.</p>
              )}
            </Autocomplete.Empty>
            <Autocomplete.List className="max-h-[50vh] overflow-y-auto p-1.5 empty:hidden">
              {(group: Group) => (
                <Autocomplete.Group key={group.value} items={group.items} className="pb-1">
                  <Autocomplete.GroupLabel className="px-3 pt-2 pb-1 text-xs font-medium text-muted">
                    {group.value}
                  </Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Command) => (
                      <Autocomplete.Item
                        key={command.match ? `${command.match.turnId} ${command.match.kind}` : command.label}
                        value={command}
                        onClick={() => {
                          onClose();
                          command.go();
                        }}
                        className="flex cursor-pointer items-center justify-between gap-4 rounded-lg px-3 py-2 text-sm data-highlighted:bg-sunken"
                      >
                        {command.match ? (
                          <Excerpt match={command.match} />
                        ) : (
                          <span className="truncate">{command.label}</span>
                        )}
                        {command.hint !== "" && <kbd className="font-sans text-xs text-muted">{command.hint}</kbd>}
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
            {isSearching && (
              <p role="status" className="border-t px-4 py-2 text-sm text-muted">
                Searching messages…
              </p>
            )}
            {error !== null && (
              <div className="p-2">
                <Notice tone="bad" title="Messages were not searched">
                  {messageOf(error)}
                </Notice>
              </div>
            )}
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** All that can be gone to and done, in groups. That of an agent comes first where one is shown. */
function useGroups(places: readonly Place[]): Group[] {
  const navigate = useNavigate();
  const { data: agents = [] } = useQuery(agentsQuery);
  const { name: shown } = useParams({ strict: false });
  const [, setTheme] = useTheme();
  const mayUse = useMay("use");
  const tabs = useAgentTabs();
  const isClosed = useIsClosed()(agents.find(({ name }) => name === shown));
  const ofAgent =
    shown === undefined || isClosed ? [] : [{ value: shown, items: agentCommands(shown, tabs, navigate) }];
  const themes = (["light", "dark", "system"] as const).map((theme) => ({
    label: theme === "system" ? "Theme as the system" : `${theme === "light" ? "Light" : "Dark"} theme`,
    hint: "",
    go: () => setTheme(theme),
  }));
  return [
    ...ofAgent,
    {
      value: "Go to",
      items: [
        ...places.map(({ name, key, to }) => ({ label: name, hint: `g ${key}`, go: () => void navigate({ to }) })),
        { label: "Notifications", hint: "", go: () => void navigate({ to: "/notifications" }) },
      ],
    },
    {
      value: "Do",
      items: [
        ...(mayUse ? [{ label: "Create an agent", hint: "c", go: () => void navigate({ to: "/create-agent" }) }] : []),
        ...themes,
        { label: "Sign out", hint: "", go: () => void signOut(false) },
      ],
    },
    {
      value: "Agents",
      items: agents.map(({ name, status }) => ({
        label: name,
        hint: statuses[status].word,
        go: () => void navigate({ to: "/agents/$name", params: { name } }),
      })),
    },
  ].filter(({ items }) => items.length > 0);
}

/** Found messages and replies. Each opens its turn. */
function useFoundGroup(matches: readonly SearchMatch[]): Group[] {
  const navigate = useNavigate();
  if (matches.length === 0) return [];
  const items = matches.map((match) => ({
    label: `${match.kind} of ${match.agent}`,
    hint: "",
    go: () => {
      const { agent: name, turnId } = match;
      void navigate({ to: "/agents/$name/turns/$turnId", params: { name, turnId } });
    },
    match,
  }));
  return [{ value: "Messages", items }];
}

function agentCommands(name: string, tabs: readonly AgentTab[], navigate: ReturnType<typeof useNavigate>): Command[] {
  return tabs.map(({ to, name: tab }) => ({
    label: `${name}: ${tab}`,
    hint: "",
    go: () => void navigate({ to, params: { name } }),
  }));
}
