import { Eye, Search, WrapText } from "lucide-react";
import { lazy, Suspense, useEffect, useEffectEvent, useMemo, useState } from "react";
import { BaseFolder } from "../conversation/OwnFile.tsx";
import { PlainOnFailure } from "../conversation/PlainOnFailure.tsx";
import { Button } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { Done } from "../ui/Done.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Loading, Notice } from "../ui/Notice.tsx";
import { useMay } from "../workspace/use-may.ts";
import { DownloadButton } from "./DownloadButton.tsx";
import { Editor } from "./Editor.tsx";
import { FileHeader } from "./FileHeader.tsx";
import type { OpenedFile } from "./file-query.ts";
import { Picture } from "./Picture.tsx";
import { folderOf, nameOf } from "./paths.ts";
import { remembered } from "./remembered.ts";
import { useEditedFile } from "./use-edited-file.ts";

const Markdown = lazy(async () => ({ default: (await import("../conversation/Markdown.tsx")).Markdown }));

/** Longer texts have no preview. */
const mostPreviewed = 200_000;

interface TextFileProps {
  name: string;
  path: string;
  opened: OpenedFile;
  text: string;
  isDeleted: boolean;
}

/** A text file in an editor. Read-only for a viewer, and while it changes faster than it is read. */
export function TextFile({ name, path, opened, text, isDeleted }: TextFileProps) {
  const isReadOnly = !useMay("use") || opened.etag === null;
  const latest = useMemo(() => ({ text, etag: opened.etag }), [text, opened.etag]);
  const edited = useEditedFile({ name, path, opened, latest, isDeleted });
  const { editor, isChanged, isConflict, action } = edited;
  const [wraps, setWraps] = useState(() => remembered.wraps);
  const [isPreviewed, setPreviewed] = useState(false);
  const [isCompared, setCompared] = useState(false);
  const compared = isConflict && isCompared ? text : null;
  useEffect(() => editor?.wrap(wraps), [editor, wraps]);
  useEffect(() => void editor?.compare(compared), [editor, compared]);
  const maySave = !isReadOnly && (isChanged || isDeleted) && !action.isBusy;
  useSaveKey(() => maySave && edited.save());
  const preview = previewOf(path, text);
  const toggleWrap = () => {
    remembered.wraps = !wraps;
    setWraps(!wraps);
  };
  return (
    <>
      <FileHeader path={path}>
        <Done of={action}>Saved</Done>
        {isReadOnly && <span className="px-2 text-sm text-muted">Read-only</span>}
        {preview !== null && (
          <Button kind="quiet" aria-pressed={isPreviewed} onClick={() => setPreviewed(!isPreviewed)}>
            <Eye className="size-4" aria-hidden /> {isPreviewed ? "Edit" : "Preview"}
          </Button>
        )}
        <Button kind="quiet" aria-label="Find" title="Find" onClick={() => editor?.find()}>
          <Search className="size-4" aria-hidden />
        </Button>
        <Button kind="quiet" aria-label="Wrap lines" title="Wrap lines" aria-pressed={wraps} onClick={toggleWrap}>
          <WrapText className={classes("size-4", wraps && "text-accent")} aria-hidden />
        </Button>
        <DownloadButton name={name} path={path} />
        {!isReadOnly && (
          <Button kind="primary" isBusy={action.isBusy} disabled={!maySave} onClick={edited.save}>
            Save
          </Button>
        )}
      </FileHeader>
      <div className="grid gap-2 empty:hidden [&>*]:m-3">
        {!isConflict && !isDeleted && <Failure of={action.error} />}
        {isDeleted && <Deleted />}
        {isConflict && (
          <Conflict
            isCompared={isCompared}
            onCompare={() => setCompared(!isCompared)}
            onReload={edited.reload}
            onOverwrite={edited.overwrite}
          />
        )}
      </div>
      <div className={classes("min-h-0 flex-1", isPreviewed && "hidden")}>
        <Editor
          key={`${path} ${isReadOnly}`}
          name={nameOf(path)}
          text={text}
          isReadOnly={isReadOnly}
          wraps={wraps}
          onChanged={edited.setChanged}
          onEditor={edited.setEditor}
        />
      </div>
      {isPreviewed && preview !== null && (
        <section aria-label="Preview" tabIndex={0} className="min-h-0 flex-1 overflow-auto px-4 py-3">
          <Preview kind={preview} text={editor?.text ?? text} path={path} />
        </section>
      )}
    </>
  );
}

function useSaveKey(save: () => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    save();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

function Deleted() {
  return (
    <Notice tone="warn" title="This file was deleted on the agent's machine">
      Save writes it there again.
    </Notice>
  );
}

interface ConflictProps {
  isCompared: boolean;
  onCompare: () => void;
  onReload: () => void;
  onOverwrite: () => void;
}

function Conflict({ isCompared, onCompare, onReload, onOverwrite }: ConflictProps) {
  return (
    <Notice
      tone="warn"
      title="This file has changed on the agent's machine"
      action={
        <div className="flex flex-wrap gap-2">
          <Button onClick={onCompare} aria-pressed={isCompared}>
            {isCompared ? "Hide differences" : "Show differences"}
          </Button>
          <Button onClick={onReload}>Reload</Button>
          <Button onClick={onOverwrite}>Overwrite</Button>
        </div>
      }
    >
      {isCompared
        ? "Green lines are yours, red ones the agent's. Reject takes the agent's. Overwrite saves the result."
        : "Your edits are not saved. Reload discards them; Overwrite replaces the agent's version."}
    </Notice>
  );
}

type PreviewKind = "markdown" | "svg";

function previewOf(path: string, text: string): PreviewKind | null {
  if (text.length > mostPreviewed) return null;
  if (/\.(md|mdx|markdown)$/i.test(path)) return "markdown";
  return /\.svg$/i.test(path) ? "svg" : null;
}

function Preview({ kind, text, path }: { kind: PreviewKind; text: string; path: string }) {
  const blob = useMemo(() => new Blob([text], { type: "image/svg+xml" }), [text]);
  if (kind === "svg") return <Picture blob={blob} alt={nameOf(path)} />;
  return (
    <div className="mx-auto max-w-3xl">
      <PlainOnFailure text={text}>
        <Suspense fallback={<Loading />}>
          <BaseFolder value={folderOf(path)}>
            <Markdown text={text} isStreaming={false} />
          </BaseFolder>
        </Suspense>
      </PlainOnFailure>
    </div>
  );
}
