import { Menu } from "@base-ui/react/menu";
import type { Me } from "@berth/client";
import { Check, ChevronsUpDown } from "lucide-react";
import { useState } from "react";
import { classes } from "../ui/classes.ts";
import { menuItem } from "../ui/menu-item.ts";
import { openWorkspace } from "./choice.ts";
import { NewWorkspace } from "./NewWorkspace.tsx";

/** The workspace's name. Chooses another, and creates one. */
export function WorkspaceMenu({ me: { workspace, memberships }, className }: { me: Me; className?: string }) {
  const [isCreating, setCreating] = useState(false);
  const open = (id: string) => {
    if (id !== workspace.id) openWorkspace(memberships.find((each) => each.id === id)?.personal ? null : id);
  };
  return (
    <>
      <Menu.Root>
        <Menu.Trigger
          aria-label={`Workspace ${workspace.name}`}
          className={classes(
            "flex min-w-0 items-center gap-1.5 rounded-lg px-2.5 py-1.5 text-sm font-medium hover:bg-sunken",
            className,
          )}
        >
          <span className="truncate">{workspace.name}</span>
          <ChevronsUpDown className="ml-auto size-4 shrink-0 text-muted" aria-hidden />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={6} align="start" className="z-50">
            <Menu.Popup className="grid max-h-[70vh] max-w-72 min-w-52 gap-0.5 overflow-y-auto rounded-xl border bg-raised p-1.5 shadow-lg">
              <p className="px-3 py-1 text-xs text-muted">Workspaces</p>
              <Menu.RadioGroup value={workspace.id} onValueChange={open} aria-label="Workspace">
                {memberships.map((each) => (
                  <Choice key={each.id} of={each} />
                ))}
              </Menu.RadioGroup>
              <Menu.Separator className="my-1 border-t" />
              <Menu.Item className={menuItem} onClick={() => setCreating(true)}>
                Create a workspace
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <NewWorkspace isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  );
}

function Choice({ of: { id, name, personal } }: { of: Me["workspace"] }) {
  return (
    <Menu.RadioItem value={id} className={menuItem}>
      <span className="size-4 shrink-0">
        <Menu.RadioItemIndicator>
          <Check className="size-4" aria-hidden />
        </Menu.RadioItemIndicator>
      </span>
      <span className="truncate">{name}</span>
      {personal && <span className="ml-auto pl-2 text-xs text-muted">personal</span>}
    </Menu.RadioItem>
  );
}
