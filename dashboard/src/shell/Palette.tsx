import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { agentsQuery } from "../api/queries.ts";
import type { Place } from "./places.ts";

interface Command {
  label: string;
  hint: string;
  go: () => void;
}

/** Goes anywhere by its name. */
export function Palette({ places, onClose }: { places: readonly Place[]; onClose: () => void }) {
  const commands = useCommands(places);
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          aria-label="Go to"
          className="fixed inset-x-4 top-[12vh] z-50 mx-auto max-w-lg overflow-hidden rounded-2xl border bg-raised shadow-xl"
        >
          <Autocomplete.Root
            items={commands}
            itemToStringValue={({ label }: Command) => label}
            inline
            open
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label="Go to a view or an agent"
              placeholder="Go to a view or an agent…"
              className="w-full border-b bg-transparent px-4 py-3 outline-none placeholder:text-muted"
            />
            <Autocomplete.Empty>
              <p className="px-4 py-6 text-center text-sm text-muted">Nothing has that name.</p>
            </Autocomplete.Empty>
            <Autocomplete.List className="max-h-[50vh] overflow-y-auto p-1.5 empty:hidden">
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
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function useCommands(places: readonly Place[]): Command[] {
  const navigate = useNavigate();
  const { data: agents = [] } = useQuery(agentsQuery);
  return [
    ...places.map(({ name, key, to }) => ({ label: name, hint: `g ${key}`, go: () => void navigate({ to }) })),
    { label: "Create an agent", hint: "c", go: () => void navigate({ to: "/create-agent" }) },
    ...agents.map(({ name }) => ({
      label: name,
      hint: "agent",
      go: () => void navigate({ to: "/agents/$name", params: { name } }),
    })),
  ];
}
