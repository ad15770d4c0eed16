import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { type AgentTab, useAgentTabs } from "../agent/tabs.ts";
import { useIsClosed } from "../agents/Private.tsx";
import { statuses } from "../agents/status.tsx";
import { session } from "../api/client.ts";
import { agentsQuery } from "../api/queries.ts";
import { useMay } from "../workspace/use-may.ts";
import type { Place } from "./places.ts";
import { useTheme } from "./theme.ts";

interface Command {
  label: string;
  hint: string;
  go: () => void;
}

interface Group {
  value: string;
  items: Command[];
}

/** Goes anywhere, and does what needs no more than a name. */
export function Palette({ places, onClose }: { places: readonly Place[]; onClose: () => void }) {
  const groups = useGroups(places);
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
            itemToStringValue={({ label }: Command) => label}
            inline
            open
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label="Go to a view or an agent, or do something"
              placeholder="Go to a view or agent, or do…"
              className="w-full border-b bg-transparent px-4 py-3 outline-none placeholder:text-muted"
            />
            <Autocomplete.Empty>
              <p className="px-4 py-6 text-center text-sm text-muted">No matches.</p>
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
                        key={command.label}
                        value={command}
                        onClick={() => {
                          onClose();
                          command.go();
                        }}
                        className="flex cursor-pointer items-center justify-between gap-4 rounded-lg px-3 py-2 text-sm data-highlighted:bg-sunken"
                      >
                        <span className="truncate">{command.label}</span>
                        <kbd className="font-sans text-xs text-muted">{command.hint}</kbd>
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
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
      items: places.map(({ name, key, to }) => ({ label: name, hint: `g ${key}`, go: () => void navigate({ to }) })),
    },
    {
      value: "Do",
      items: [
        ...(mayUse ? [{ label: "Create an agent", hint: "c", go: () => void navigate({ to: "/create-agent" }) }] : []),
        ...themes,
        { label: "Sign out", hint: "", go: () => void session.signOut(false) },
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

function agentCommands(name: string, tabs: readonly AgentTab[], navigate: ReturnType<typeof useNavigate>): Command[] {
  return tabs.map(({ to, name: tab }) => ({
    label: `${name}: ${tab}`,
    hint: "",
    go: () => void navigate({ to, params: { name } }),
  }));
}
