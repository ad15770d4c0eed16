import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import type { SearchMatch } from "@berth/client";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { type Command, type Group, useCommands } from "./commands.ts";
import { Excerpt } from "./Excerpt.tsx";
import type { Place } from "./places.ts";
import { useFound } from "./use-found.ts";

/** A command, or a message or reply that was found, which the label only names. */
interface Item extends Command {
  match?: SearchMatch;
}

interface Props {
  places: readonly Place[];
  openShortcuts: () => void;
  onClose: () => void;
}

/** Goes anywhere, does what needs no more than a name, and finds messages and replies. */
export function Palette({ places, openShortcuts, onClose }: Props) {
  const [typed, setTyped] = useState("");
  const { matches, isSearching, error } = useFound(typed);
  const groups: Group<Item>[] = [...useCommands(places, openShortcuts, typed), ...useFoundGroup(matches)];
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
            filteredItems={groups}
            itemToStringValue={({ label }: Item) => label}
            inline
            open
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label="Search views, agents and messages, or run a command"
              placeholder="Search or run a command…"
              className="w-full border-b bg-transparent px-4 py-3 outline-none placeholder:text-muted"
            />
            <Autocomplete.Empty>
              {!isSearching && error === null && (
                <p className="px-4 py-6 text-center text-sm text-muted">No results.</p>
              )}
            </Autocomplete.Empty>
            <Autocomplete.List className="max-h-[50vh] overflow-y-auto p-1.5 empty:hidden">
              {(group: Group<Item>) => (
                <Autocomplete.Group key={group.value} items={group.items} className="pb-1">
                  <Autocomplete.GroupLabel className="px-3 pt-2 pb-1 text-xs font-medium text-muted">
                    {group.value}
                  </Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(command: Item) => (
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

/** Found messages and replies. Each opens its turn. */
function useFoundGroup(matches: readonly SearchMatch[]): Group<Item>[] {
  const navigate = useNavigate();
  if (matches.length === 0) return [];
  const items = matches.map((match) => ({
    label: `${match.kind} of ${match.agent}`,
    hint: "",
    words: "",
    go: () => {
      const { agent: name, turnId } = match;
      void navigate({ to: "/agents/$name/turns/$turnId", params: { name, turnId } });
    },
    match,
  }));
  return [{ value: "Messages", items }];
}
