import { Menu } from "@base-ui/react/menu";
import { Check, SlidersHorizontal } from "lucide-react";
import { buttonClasses } from "../ui/Button.tsx";
import { menuItem } from "../ui/menu-item.ts";
import type { FileOrder } from "./remembered.ts";
import type { Display } from "./use-display.ts";

const orders: Readonly<Record<FileOrder, string>> = {
  name: "Sort by name",
  size: "Sort by size",
  changed: "Sort by last change",
};

/** The order of a folder's entries, and whether hidden ones are shown. */
export function DisplayMenu({ display: { order, setOrder, showsHidden, setShowsHidden } }: { display: Display }) {
  return (
    <Menu.Root>
      <Menu.Trigger aria-label="Display" title="Display" className={buttonClasses("quiet")}>
        <SlidersHorizontal className="size-4" aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className="grid min-w-52 gap-0.5 rounded-xl border bg-raised p-1.5 shadow-lg">
            <Menu.RadioGroup value={order} onValueChange={(next: FileOrder) => setOrder(next)}>
              {Object.entries(orders).map(([value, label]) => (
                <Menu.RadioItem key={value} value={value} className={menuItem} closeOnClick>
                  <span className="size-4">
                    <Menu.RadioItemIndicator>
                      <Check className="size-4" aria-hidden />
                    </Menu.RadioItemIndicator>
                  </span>
                  {label}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="my-1 border-t" />
            <Menu.CheckboxItem checked={showsHidden} onCheckedChange={setShowsHidden} className={menuItem} closeOnClick>
              <span className="size-4">
                <Menu.CheckboxItemIndicator>
                  <Check className="size-4" aria-hidden />
                </Menu.CheckboxItemIndicator>
              </span>
              Show hidden files
            </Menu.CheckboxItem>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
