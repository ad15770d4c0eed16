import type { FileChange } from "@berth/client";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { classes } from "../ui/classes.ts";
import type { Comments } from "./comments.ts";
import { DiffTable } from "./DiffTable.tsx";
import type { Layout } from "./diff-layout.ts";
import { countsOf, hunksOf } from "./hunks.ts";
import { RevertFile } from "./RevertFile.tsx";
import { visible } from "./visible.ts";

/** A changed file of a turn, or of several. */
export interface ChangedFile extends Pick<FileChange, "name" | "change" | "size"> {
  diff: string | null;
  reason?: string | null;
}

interface FileProps {
  agent: string;
  file: ChangedFile;
  source: string;
  /** The turn whose change can be reverted; null: none. */
  turnId: string | null;
  layout: Layout;
  comments: Comments | null;
}

export const changeTones = { created: "text-good", changed: "text-muted", deleted: "text-bad" } as const;

/** The number of a file's element, for links to it. */
export const fileId = (name: string) => `file ${name}`;

/** How far from the view a diff is drawn. */
const margin = "800px";

/** A file's changes. Its diff is drawn when it comes near the view. */
export function FileDiff({ agent, file, source, turnId, layout, comments }: FileProps) {
  const { name, change, diff } = file;
  const [isOpen, setOpen] = useState(true);
  const root = useRef<HTMLElement>(null);
  const isNear = useIsNear(root);
  const counts = useMemo(() => countsOf(diff), [diff]);
  const shown = visible(name);
  const mayRevert = turnId !== null && comments !== null && canRevert(file);
  return (
    <section ref={root} id={fileId(name)} aria-label={shown} className="overflow-clip rounded-xl border bg-surface">
      <header className="sticky top-0 z-10 flex flex-wrap items-center gap-x-3 border-b bg-surface px-2 py-1">
        <button
          type="button"
          data-file={name}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex min-w-0 flex-1 scroll-mt-2 items-center gap-2 rounded-lg px-1 py-1 text-left"
        >
          <ChevronRight
            className={classes("size-4 shrink-0 text-muted transition-transform", isOpen && "rotate-90")}
            aria-hidden
          />
          <bdi className="min-w-0 font-mono text-[13px] wrap-anywhere">{shown}</bdi>
        </button>
        <Counts {...counts} />
        <span className={classes("text-xs", changeTones[change])}>{change}</span>
        {mayRevert && <RevertFile agent={agent} turnId={turnId} name={name} />}
      </header>
      {isOpen &&
        (isNear ? (
          <Body file={file} source={source} layout={layout} comments={comments} />
        ) : (
          <div style={{ height: `${Math.min(40, counts.added + counts.removed) * 20}px` }} />
        ))}
    </section>
  );
}

function Body({ file, ...shared }: Pick<FileProps, "file" | "source" | "layout" | "comments">) {
  const { name, diff } = file;
  const hunks = useMemo(() => (diff === null ? null : hunksOf(diff)), [diff]);
  if (hunks === null || hunks.length === 0) return <p className="px-4 py-3 text-sm text-muted">{reasonOf(file)}</p>;
  return <DiffTable file={name} hunks={hunks} {...shared} />;
}

const reasons: Readonly<Record<string, string>> = {
  no_diff: "At least one of the turns has no diff for this file: it is not text, is too large, or is a link.",
  changed_between:
    "This file was also changed between turns, so its diffs cannot be put together. Look at single turns.",
  too_large: "The diffs are too large to be shown together. Look at single turns.",
};

/** Why there is no diff to show. */
function reasonOf({ diff, change, size, reason }: ChangedFile): string {
  if (diff === "" || (change === "created" && size === 0)) return "The file is empty.";
  if (diff !== null) return "The diff of this file is not valid.";
  if (reason) return reasons[reason] ?? "There is no diff.";
  return "No diff: the file is not text, is larger than 1 MiB, is a link or a key, or there was no copy of it from before.";
}

/** Empty files are created without a diff. */
function canRevert({ diff, change, size }: ChangedFile): boolean {
  return diff !== null || (change === "created" && size === 0);
}

export function Counts({ added, removed }: { added: number; removed: number }): ReactNode {
  if (added + removed === 0) return null;
  return (
    <span className="flex gap-1.5 text-xs tabular-nums">
      <span className="text-good">
        <span aria-hidden>+</span>
        {added.toLocaleString("en")}
        <span className="sr-only"> added</span>
      </span>
      <span className="text-bad">
        <span aria-hidden>−</span>
        {removed.toLocaleString("en")}
        <span className="sr-only"> removed</span>
      </span>
    </span>
  );
}

/** Whether the element has been near the view. */
function useIsNear(element: React.RefObject<HTMLElement | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (!element.current || isNear) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: margin },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isNear]);
  return isNear;
}
