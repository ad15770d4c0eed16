import { Menu } from "@base-ui/react/menu";
import { Link } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { Unread } from "../inbox/Unread.tsx";
import { menuItem } from "../ui/menu-item.ts";
import type { Place } from "./places.ts";

/** How many views have a place of their own; the others are in a menu. */
const shownPlaces = 4;
const item = "grid min-w-0 flex-1 justify-items-center gap-0.5 py-1.5 text-[11px] text-muted";

/** The views, on narrow screens. */
export function BottomBar({ places }: { places: readonly Place[] }) {
  const isOne = places.length === shownPlaces + 1;
  const shown = isOne ? places : places.slice(0, shownPlaces);
  const others = places.slice(shown.length);
  return (
    <nav aria-label="Views" className="flex border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden">
      {shown.map(({ to, name, icon: Icon }) => (
        <Link
          key={to}
          to={to}
          activeOptions={{ exact: to === "/" }}
          className={item}
          activeProps={{ className: "!text-accent font-medium" }}
        >
          <span className="relative">
            <Icon className="size-5" aria-hidden />
            {to === "/inbox" && (
              <span className="absolute -top-1 left-3 flex">
                <Unread />
              </span>
            )}
          </span>
          {name}
        </Link>
      ))}
      {others.length > 0 && <Others places={others} />}
    </nav>
  );
}

function Others({ places }: { places: readonly Place[] }) {
  return (
    <Menu.Root>
      <Menu.Trigger className={item}>
        <Ellipsis className="size-5" aria-hidden />
        More
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={6} align="end" className="z-50">
          <Menu.Popup className="grid min-w-52 gap-0.5 rounded-xl border bg-raised p-1.5 shadow-lg">
            {places.map(({ to, name, icon: Icon }) => (
              <Menu.Item key={to} className={menuItem} render={<Link to={to} />}>
                <Icon className="size-4" aria-hidden />
                {name}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
