import type { Me } from "@berth/client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Link, useMatchRoute } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { AgentActions } from "../agent/AgentActions.tsx";
import { accountQuery, meQuery } from "../api/queries.ts";
import { useIsReachable, useLiveQueries } from "../api/use-live.ts";
import { Unread, useUnreadInTitle } from "../inbox/Unread.tsx";
import { useCloseRead } from "../notifications/use-close-read.ts";
import { classes } from "../ui/classes.ts";
import { AllowedOutlet } from "../workspace/AllowedOutlet.tsx";
import { LostWorkspace } from "../workspace/LostWorkspace.tsx";
import { may } from "../workspace/roles.ts";
import { WorkspaceMenu } from "../workspace/WorkspaceMenu.tsx";
import { AccountMenu } from "./AccountMenu.tsx";
import { BottomBar } from "./BottomBar.tsx";
import { LeaveGuard } from "./LeaveGuard.tsx";
import { needOfView, type Place, placesOf } from "./places.ts";
import { useShortcuts } from "./shortcuts.ts";
import { useDropGuard } from "./use-drop-guard.ts";
import { useViewFocus } from "./use-view-focus.ts";

const Shortcuts = lazy(async () => ({ default: (await import("./Shortcuts.tsx")).Shortcuts }));
const Palette = lazy(async () => ({ default: (await import("./Palette.tsx")).Palette }));

/** The frame around each view. */
export function Shell() {
  const { data: account } = useSuspenseQuery(accountQuery);
  const { data: me } = useSuspenseQuery(meQuery);
  const places = placesOf(me.workspace.role, account);
  const [over, setOver] = useState<"palette" | "shortcuts" | null>(null);
  const openPalette = () => setOver("palette");
  const openShortcuts = () => setOver("shortcuts");
  const mayCreate = may(me.workspace.role, "use");
  useLiveQueries();
  useUnreadInTitle();
  useCloseRead();
  useViewFocus();
  useDropGuard();
  useShortcuts({ places, mayCreate, openPalette, openShortcuts });
  // A conversation on a phone has use for the whole screen; its header leads back.
  const isAgent = useMatchRoute()({ to: "/agents/$name", fuzzy: true }) !== false;
  return (
    <AgentActions>
      <div className="flex h-full min-h-0 flex-col md:flex-row">
        <a
          href="#content"
          className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:bg-surface focus:p-2"
        >
          Skip to the content
        </a>
        <Sidebar me={me} places={places} onPalette={openPalette} />
        <TopBar me={me} isHidden={isAgent} onPalette={openPalette} />
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          <Unreachable />
          <LostWorkspace current={me.workspace.name} />
          <main id="content" className="flex min-h-0 flex-1 flex-col overflow-y-auto" tabIndex={-1}>
            <AllowedOutlet needOf={needOfView} />
          </main>
        </div>
        <LeaveGuard />
        {!isAgent && <BottomBar places={places} />}
        <Suspense>
          {over === "palette" && (
            <Palette places={places} openShortcuts={openShortcuts} onClose={() => setOver(null)} />
          )}
          {over === "shortcuts" && <Shortcuts places={places} mayCreate={mayCreate} onClose={() => setOver(null)} />}
        </Suspense>
      </div>
    </AgentActions>
  );
}

interface BarProps {
  me: Me;
  places: readonly Place[];
  onPalette: () => void;
}

/** On wide screens. */
function Sidebar({ me, places, onPalette }: BarProps) {
  return (
    <aside className="hidden w-56 shrink-0 flex-col gap-4 border-r bg-surface p-3 md:flex">
      <Brand />
      <WorkspaceMenu me={me} className="-my-2 w-full" />
      <PaletteButton onClick={onPalette} />
      <nav aria-label="Views" className="grid gap-0.5">
        {places.map((place) => (
          <SideLink key={place.to} place={place} />
        ))}
      </nav>
      <div className="mt-auto">
        <AccountMenu name={nameOf(me)} />
      </div>
    </aside>
  );
}

/** On narrow screens. */
function TopBar({ me, isHidden, onPalette }: Omit<BarProps, "places"> & { isHidden: boolean }) {
  return (
    <header
      className={classes(
        "flex items-center justify-between border-b bg-surface px-3 py-1.5 md:hidden",
        isHidden && "hidden",
      )}
    >
      <Brand />
      <WorkspaceMenu me={me} className="mr-auto" />
      <div className="flex items-center gap-1">
        <PaletteButton onClick={onPalette} isSmall />
        <AccountMenu name={nameOf(me)} isSmall />
      </div>
    </header>
  );
}

function nameOf({ person, workspace }: Me): string {
  return person?.name ?? workspace.name;
}

function Brand() {
  return (
    <Link to="/" className="flex items-center gap-2 rounded-lg px-2 py-1 font-semibold">
      <img src="/assets/berth.svg" alt="" className="size-6" />
      Berth
    </Link>
  );
}

function PaletteButton({ onClick, isSmall = false }: { onClick: () => void; isSmall?: boolean }) {
  return (
    <button
      type="button"
      onClick={onClick}
      aria-label={isSmall ? "Search and go to" : undefined}
      className={classes(
        "flex items-center gap-2 rounded-lg text-sm text-muted hover:bg-sunken",
        isSmall ? "p-2" : "border bg-canvas px-2.5 py-1.5",
      )}
    >
      <Search className="size-4" aria-hidden />
      {!isSmall && (
        <>
          Go to… <kbd className="ml-auto font-sans text-xs">{isApple ? "⌘K" : "Ctrl K"}</kbd>
        </>
      )}
    </button>
  );
}

const isApple = /Mac|iPhone|iPad/.test(navigator.userAgent);

function SideLink({ place: { to, name, icon: Icon } }: { place: Place }) {
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === "/" }}
      className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm text-muted hover:bg-sunken hover:text-ink"
      activeProps={{ className: "!bg-accent-soft font-medium !text-ink" }}
    >
      <Icon className="size-4" aria-hidden />
      {name}
      {to === "/inbox" && (
        <span className="ml-auto flex">
          <Unread />
        </span>
      )}
    </Link>
  );
}

/** A message that disappears automatically. */
function Unreachable() {
  if (useIsReachable()) return null;
  return (
    <p role="status" className="border-b border-warn/40 bg-warn-soft px-4 py-2 text-center text-sm text-warn">
      Can't reach the server. Reconnecting…
    </p>
  );
}
