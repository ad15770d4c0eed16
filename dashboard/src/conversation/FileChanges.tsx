import type { TurnChanges } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight, FileDiff } from "lucide-react";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { ReviewLink } from "../changes/ReviewLink.tsx";
import { buttonClasses } from "../ui/Button.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Diff } from "./Diff.tsx";
import { linesOf } from "./diff.ts";

const tones = { created: "text-good", changed: "text-muted", deleted: "text-bad" } as const;

interface ChangesProps {
  agent: string;
  turnId: string;
  changes: TurnChanges;
}

/** The files that a turn changed in one line, which opens. Their diffs are read when it does. */
export function FileChanges({ agent, turnId, changes }: ChangesProps) {
  const [isOpen, setOpen] = useState(false);
  const { created, changed, deleted } = changes;
  const count = created + changed + deleted;
  if (count === 0) return null;
  return (
    <div className="relative">
      <details
        className="group/changes rounded-lg border bg-surface text-sm"
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary className="flex cursor-pointer list-none items-center gap-2 rounded-lg py-2 pr-20 pl-3">
          <ChevronRight
            className="size-4 shrink-0 text-muted transition-transform group-open/changes:rotate-90"
            aria-hidden
          />
          <FileDiff className="size-4 shrink-0 text-muted" aria-hidden />
          {count === 1 ? "1 file changed" : `${count} files changed`}
          <span className="text-xs text-muted">
            {[
              [created, "created"],
              [deleted, "deleted"],
            ]
              .filter(([number]) => number !== 0)
              .map(([number, word]) => `${number} ${word}`)
              .join(", ")}
          </span>
        </summary>
        {isOpen && <Files agent={agent} turnId={turnId} />}
      </details>
      <ReviewLink
        agent={agent}
        turnId={turnId}
        className={buttonClasses("quiet", "absolute top-0.5 right-1 min-h-8 py-0.5")}
      />
    </div>
  );
}

/** More would make the page slow; the tool shows all. */
const shownFiles = 200;

function Files({ agent, turnId }: Omit<ChangesProps, "changes">) {
  const query = useQuery({
    queryKey: ["agents", agent, "turns", turnId, "changes"],
    queryFn: ({ signal }) => berth.agent(agent).changes(turnId, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <div className="grid gap-2 border-t px-3 py-3">
      <Loaded query={query}>
        {({ files, cut }) => (
          <>
            {files.slice(0, shownFiles).map(({ name, change, diff }) => (
              <File key={name} name={name} change={change} diff={diff} />
            ))}
            {(cut || files.length > shownFiles) && <p className="text-xs text-muted">Not all files are shown.</p>}
            <p className="text-xs text-muted">
              Changes by all programs and people during the turn, without ignored files and caches.
            </p>
          </>
        )}
      </Loaded>
    </div>
  );
}

interface FileProps {
  name: string;
  change: keyof typeof tones;
  diff: string | null;
}

function File({ name, change, diff }: FileProps) {
  const title = (
    <>
      <span className="min-w-0 flex-1 truncate font-mono text-[13px]" title={name}>
        {name}
      </span>
      <span className={`text-xs ${tones[change]}`}>{change}</span>
    </>
  );
  if (diff === null) return <p className="flex items-center gap-2 pl-6">{title}</p>;
  return (
    <details className="group/file grid gap-2">
      <summary className="flex cursor-pointer list-none items-center gap-2">
        <ChevronRight
          className="size-4 shrink-0 text-muted transition-transform group-open/file:rotate-90"
          aria-hidden
        />
        {title}
      </summary>
      <div className="pt-2">
        <Diff lines={linesOf(diff)} label={`Changes of ${name}`} />
      </div>
    </details>
  );
}
