import { Menu } from "@base-ui/react/menu";
import { Link } from "@tanstack/react-router";
import { Check, CircleUser } from "lucide-react";
import { useState } from "react";
import { Button } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { menuItem } from "../ui/menu-item.ts";
import { messageOf } from "../ui/message.ts";
import { useAction } from "../ui/use-action.ts";
import { signOut } from "./sign-out.ts";
import { type Theme, useTheme } from "./theme.ts";

const themes: readonly { value: Theme; name: string }[] = [
  { value: "system", name: "Use system theme" },
  { value: "light", name: "Light" },
  { value: "dark", name: "Dark" },
];

export function AccountMenu({ name, isSmall = false }: { name: string; isSmall?: boolean }) {
  const [theme, setTheme] = useTheme();
  const leave = useAction(signOut);
  /** The failure that was seen. */
  const [read, setRead] = useState<unknown>(null);
  return (
    <>
      <Menu.Root>
        <Menu.Trigger
          aria-label={`Account of ${name}`}
          className={classes(
            "flex items-center gap-2.5 rounded-lg text-sm hover:bg-sunken",
            isSmall ? "p-2" : "w-full px-2.5 py-1.5",
          )}
        >
          <CircleUser className="size-5 shrink-0 text-muted" aria-hidden />
          {!isSmall && <span className="truncate">{name}</span>}
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={6} align="start" className="z-50">
            <Menu.Popup className="grid min-w-52 gap-0.5 rounded-xl border bg-raised p-1.5 shadow-lg">
              <p className="truncate px-3 py-1 text-xs text-muted">{name}</p>
              <Menu.RadioGroup value={theme} onValueChange={setTheme} aria-label="Theme">
                {themes.map(({ value, name: label }) => (
                  <Menu.RadioItem key={value} value={value} className={menuItem}>
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
              <Menu.Item className={menuItem} render={<Link to="/notifications" />}>
                Notifications
              </Menu.Item>
              <Menu.Separator className="my-1 border-t" />
              <Menu.Item className={menuItem} onClick={() => leave.run(false)}>
                Sign out
              </Menu.Item>
              <Menu.Item className={menuItem} onClick={() => leave.run(true)}>
                Sign out everywhere
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <Dialog
        isOpen={leave.error !== null && leave.error !== read}
        onClose={() => setRead(leave.error)}
        title="You are still signed in"
        description={messageOf(leave.error)}
      >
        <Button className="justify-self-end" onClick={() => setRead(leave.error)}>
          Close
        </Button>
      </Dialog>
    </>
  );
}
