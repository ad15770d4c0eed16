import { Menu } from "@base-ui/react/menu";
import type { FileEntry } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { download } from "../agent/save-as.ts";
import { berth } from "../api/client.ts";
import { folderQuery } from "../api/queries.ts";
import { ConfirmDialog } from "../ui/Confirm.tsx";
import { classes } from "../ui/classes.ts";
import { menuItem } from "../ui/menu-item.ts";
import { messageOf } from "../ui/message.ts";
import { useAction } from "../ui/use-action.ts";
import { useMay } from "../workspace/use-may.ts";
import { NameDialog } from "./NameDialog.tsx";
import { childOf } from "./paths.ts";

interface EntryProps {
  name: string;
  folder: string;
  entry: FileEntry;
}

/** The actions for a file or folder. */
export function EntryMenu({ name, folder, entry }: EntryProps) {
  const queries = useQueryClient();
  const [asks, setAsks] = useState<"rename" | "delete" | null>(null);
  const mayUse = useMay("use");
  const files = berth.agent(name).files;
  const path = childOf(folder, entry.name);
  const isFolder = entry.type === "folder";
  const refresh = () => queries.invalidateQueries({ queryKey: folderQuery(name, folder).queryKey });
  const save = useAction(async () => download(await files.downloadUrl(path, isFolder ? { archive: "zip" } : {})));
  const close = () => setAsks(null);
  return (
    <div className="flex items-center justify-end">
      {save.error !== null && (
        <span role="alert" className="text-[13px] text-bad">
          {messageOf(save.error)}
        </span>
      )}
      <Menu.Root>
        <Menu.Trigger
          aria-label={`Actions for ${entry.name}`}
          className="inline-flex items-center justify-center rounded-md p-1 text-muted hover:bg-line hover:text-ink"
        >
          <Ellipsis className="size-4" aria-hidden />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="end" className="z-50">
            <Menu.Popup className="grid min-w-44 gap-0.5 rounded-xl border bg-raised p-1.5 shadow-lg">
              <Menu.Item className={menuItem} onClick={() => save.run()}>
                {isFolder ? "Download as zip" : "Download"}
              </Menu.Item>
              <Menu.Item className={menuItem} onClick={() => void navigator.clipboard.writeText(path)}>
                Copy path
              </Menu.Item>
              {mayUse && (
                <>
                  <Menu.Item className={menuItem} onClick={() => setAsks("rename")}>
                    Rename…
                  </Menu.Item>
                  <Menu.Item className={classes(menuItem, "text-bad")} onClick={() => setAsks("delete")}>
                    Delete…
                  </Menu.Item>
                </>
              )}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <ConfirmDialog
        isOpen={asks === "delete"}
        onClose={close}
        title={`Delete ${entry.name}?`}
        action="Delete"
        onConfirm={async () => {
          await files.remove(path, { recursive: isFolder });
          await refresh();
        }}
      >
        {isFolder ? "Everything in this folder is deleted." : "The file is deleted."} This cannot be undone.
      </ConfirmDialog>
      {asks === "rename" && (
        <NameDialog
          title={`Rename ${entry.name}`}
          initial={entry.name}
          action="Rename"
          onClose={close}
          onNamed={async (next) => {
            await files.move(path, childOf(folder, next));
            await refresh();
          }}
        />
      )}
    </div>
  );
}
