import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { allFilesQuery, matchingPaths, mostSearched } from "./all-files.ts";
import { useGoToFiles } from "./place.ts";

/** Opens a file below the agent's home folder by parts of its path. */
export function QuickOpen({ name, onClose }: { name: string; onClose: () => void }) {
  const goTo = useGoToFiles();
  const [typed, setTyped] = useState("");
  const { data, error } = useQuery(allFilesQuery(name));
  const found = matchingPaths(data?.data ?? [], typed.trim());
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          aria-label="Quick open"
          className="fixed inset-x-4 top-[12vh] z-50 mx-auto max-w-xl overflow-hidden rounded-2xl border bg-raised shadow-xl"
        >
          <Autocomplete.Root
            items={found}
            filteredItems={found}
            value={typed}
            onValueChange={setTyped}
            inline
            open
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label="Open a file by its name"
              placeholder="Open a file…"
              className="w-full border-b bg-transparent px-4 py-3 outline-none placeholder:text-muted"
            />
            <Autocomplete.Empty>
              {data !== undefined && <p className="px-4 py-6 text-center text-sm text-muted">No matching files.</p>}
            </Autocomplete.Empty>
            <Autocomplete.List className="max-h-[50vh] overflow-y-auto p-1.5 empty:hidden">
              {(path: string) => (
                <Autocomplete.Item
                  key={path}
                  value={path}
                  onClick={() => {
                    onClose();
                    goTo({ file: path });
                  }}
                  className="cursor-pointer rounded-lg px-3 py-1.5 text-sm wrap-anywhere data-highlighted:bg-sunken"
                >
                  {path}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
            {data === undefined && error === null && (
              <p role="status" className="px-4 py-3 text-sm text-muted">
                Listing files…
              </p>
            )}
            {error !== null && (
              <div className="p-2">
                <Notice tone="bad" title="The files were not listed">
                  {messageOf(error)}
                </Notice>
              </div>
            )}
            {data?.nextCursor != null && (
              <p className="border-t px-4 py-2 text-xs text-muted">
                The first {mostSearched.toLocaleString("en")} entries are searched.
              </p>
            )}
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
