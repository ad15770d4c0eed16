import type { AgentChanges, TurnChangesWithDiffs } from "@berth/client";
import { useMemo, useRef, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { useFilters } from "../ui/filters.ts";
import { Empty } from "../ui/Notice.tsx";
import { SearchInput } from "../ui/SearchInput.tsx";
import type { Comments } from "./comments.ts";
import type { Layout } from "./diff-layout.ts";
import { type ChangedFile, Counts, changeTones, FileDiff, fileId } from "./FileDiff.tsx";
import { countsOf } from "./hunks.ts";
import type { ChangeFilter, Source } from "./source.ts";
import { countOf } from "./source.ts";
import { useChangeKeys } from "./use-change-keys.ts";
import { visible } from "./visible.ts";

interface FilesProps {
  agent: string;
  source: Source;
  changes: TurnChangesWithDiffs | AgentChanges;
  layout: Layout;
  comments: Comments | null;
}

/** The files that are shown at first, and that are added at a time. */
const filesAtATime = 100;

/** The list of changed files, next to their diffs. */
export function ChangedFiles({ agent, source, changes, layout, comments }: FilesProps) {
  const [{ search = "" }, change] = useFilters<ChangeFilter>();
  const [limit, setLimit] = useState(filesAtATime);
  const diffs = useRef<HTMLDivElement>(null);
  useChangeKeys(diffs);
  const found = changes.files.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const files = found.slice(0, limit);
  const id = source.kind === "turn" ? source.turnId : source.since;
  if (changes.files.length === 0) {
    return <Empty title="No files changed">{source.kind === "since" && "The files are as they were then."}</Empty>;
  }
  return (
    <div className="grid items-start gap-4 @4xl:grid-cols-[18rem_minmax(0,1fr)]">
      <nav
        aria-label="Changed files"
        className="grid max-h-72 gap-2 overflow-y-auto @4xl:sticky @4xl:top-4 @4xl:max-h-[80vh]"
      >
        <Summary changes={changes} />
        {changes.files.length > 1 && (
          <SearchInput label="Filter files" value={search} onChange={(text) => change({ search: text })} />
        )}
        <ul className="grid">
          {files.map((file) => (
            <FileLink key={file.name} file={file} />
          ))}
        </ul>
      </nav>
      <div ref={diffs} className="grid gap-4">
        {files.map((file) => (
          <FileDiff
            key={file.name}
            agent={agent}
            file={file}
            source={id}
            turnId={source.kind === "turn" ? source.turnId : null}
            layout={layout}
            comments={comments}
          />
        ))}
        {found.length === 0 && <Empty title="No matching files" />}
        {found.length > limit && (
          <Button onClick={() => setLimit(limit + filesAtATime)}>
            Show {Math.min(filesAtATime, found.length - limit)} more of {found.length} files
          </Button>
        )}
        <Notes changes={changes} />
      </div>
    </div>
  );
}

function Summary({ changes }: Pick<FilesProps, "changes">) {
  const counts = useMemo(() => {
    const each = changes.files.map(({ diff }) => countsOf(diff));
    const sum = (side: "added" | "removed") => each.reduce((all, one) => all + one[side], 0);
    return { added: sum("added"), removed: sum("removed") };
  }, [changes]);
  const count = countOf(changes);
  return (
    <p className="flex flex-wrap items-center gap-2 text-sm">
      {count === 1 ? "1 file changed" : `${count.toLocaleString("en")} files changed`} <Counts {...counts} />
    </p>
  );
}

function FileLink({ file }: { file: ChangedFile }) {
  const { name, change } = file;
  const counts = useMemo(() => countsOf(file.diff), [file.diff]);
  const show = () => {
    const target = document.getElementById(fileId(name));
    target?.scrollIntoView({ block: "start" });
    target?.querySelector<HTMLElement>("[data-file]")?.focus({ preventScroll: true });
  };
  return (
    <li>
      <button
        type="button"
        onClick={show}
        className="flex w-full items-center gap-2 rounded-lg px-2 py-1 text-left text-[13px] hover:bg-sunken"
      >
        <span className={changeTones[change]} aria-hidden>
          {signs[change]}
        </span>
        <bdi className="min-w-0 flex-1 truncate font-mono">{visible(name)}</bdi>
        <span className="sr-only">{change}</span>
        <Counts {...counts} />
      </button>
    </li>
  );
}

const signs = { created: "+", changed: "•", deleted: "−" } as const;

function Notes({ changes }: Pick<FilesProps, "changes">) {
  const unknown = "unknown" in changes ? changes.unknown.length : 0;
  return (
    <div className="grid gap-1 text-xs text-muted">
      {unknown > 0 && (
        <p>
          {unknown === 1 ? "The changes of 1 turn are not known." : `The changes of ${unknown} turns are not known.`}
        </p>
      )}
      {changes.cut && unknown === 0 && <p>Not all files are listed.</p>}
      <p>
        {"turns" in changes
          ? "Changes during turns, without what was changed between them, ignored files and caches."
          : "Changes by all programs and people during the turn, without ignored files and caches."}
      </p>
    </div>
  );
}
