import { Link, useNavigate } from "@tanstack/react-router";
import { X } from "lucide-react";
import { lazy, Suspense, useEffect, useEffectEvent, useState } from "react";
import { Conversation } from "../conversation/Conversation.tsx";
import { Button } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { Loading } from "../ui/Notice.tsx";
import { useMay } from "../workspace/use-may.ts";
import { Separator } from "./Separator.tsx";
import { rememberedSplit, type SideName } from "./side.ts";
import { useIsWide } from "./use-is-wide.ts";
import { useSide } from "./use-side.ts";

const views = {
  changes: { name: "Changes", View: lazy(async () => ({ default: (await import("../changes/Changes.tsx")).Changes })) },
  files: { name: "Files", View: lazy(async () => ({ default: (await import("../files/Files.tsx")).Files })) },
  terminal: {
    name: "Terminal",
    View: lazy(async () => ({ default: (await import("../agent/TerminalTab.tsx")).TerminalTab })),
  },
  ports: { name: "Ports", View: lazy(async () => ({ default: (await import("../agent/Ports.tsx")).Ports })) },
} as const satisfies Record<SideName, unknown>;

/** The views of a person who may only read. */
const readable: readonly SideName[] = ["changes", "files"];

/** The conversation and, on a wide screen, another view of the agent next to it. */
export function Workbench() {
  const isWide = useIsWide();
  const side = useSideOnceWide(isWide);
  const [share, setShare] = useState(() => rememberedSplit.share);
  const resize = (next: number) => {
    rememberedSplit.share = next;
    setShare(next);
  };
  const isSplit = isWide && side !== undefined;
  return (
    <div className="flex min-h-0 flex-1">
      <div
        className={classes("flex min-h-0 min-w-0 flex-col", !isSplit && "flex-1")}
        style={isSplit ? { width: `${share}%` } : undefined}
      >
        <Conversation />
      </div>
      {isSplit && <Separator share={share} onShare={resize} />}
      {side !== undefined && <SideView side={side} isHidden={!isWide} />}
    </div>
  );
}

/**
 * The view of the address, or the one that this browser had open last. In a window that becomes narrow it stays in the
 * page, hidden: it can have unsaved edits.
 */
function useSideOnceWide(isWide: boolean): SideName | undefined {
  const { side } = useSide();
  const navigate = useNavigate();
  const [wasWide, setWasWide] = useState(isWide);
  if (isWide && !wasWide) setWasWide(true);
  const restore = useEffectEvent(() => {
    const beside = rememberedSplit.shown;
    if (beside) void navigate({ to: ".", search: (before: object) => ({ ...before, beside }), replace: true });
  });
  useEffect(() => {
    if (isWide && side === undefined) restore();
  }, [isWide, side]);
  return wasWide ? side : undefined;
}

function SideView({ side, isHidden }: { side: SideName; isHidden: boolean }) {
  const mayUse = useMay("use");
  const { show } = useSide();
  const shown = mayUse || readable.includes(side) ? side : "files";
  const { name, View } = views[shown];
  const offered = Object.entries(views).filter(([key]) => mayUse || readable.includes(key as SideName));
  return (
    <section
      aria-label={`${name} next to the conversation`}
      data-side
      hidden={isHidden}
      className={classes("min-h-0 min-w-0 flex-1 flex-col", !isHidden && "flex")}
    >
      <div className="flex items-center gap-1 border-b bg-surface px-2 py-1">
        <nav aria-label="Views next to the conversation" className="mr-auto flex">
          {offered.map(([key, { name: label }]) => (
            <Link
              key={key}
              to="."
              search={(before: object) => ({ ...before, beside: key as SideName })}
              onClick={() => {
                rememberedSplit.shown = key as SideName;
              }}
              aria-current={key === shown ? "page" : undefined}
              className="rounded-lg px-2.5 py-1.5 text-sm text-muted hover:bg-sunken hover:text-ink aria-[current]:bg-sunken aria-[current]:font-medium aria-[current]:text-ink"
            >
              {label}
            </Link>
          ))}
        </nav>
        <Button kind="quiet" aria-label="Close split view" title="Close split view" onClick={() => show(undefined)}>
          <X className="size-4" aria-hidden />
        </Button>
      </div>
      <div className="flex min-h-0 flex-1 flex-col overflow-auto">
        <Suspense fallback={<Loading />}>
          <View />
        </Suspense>
      </div>
    </section>
  );
}
