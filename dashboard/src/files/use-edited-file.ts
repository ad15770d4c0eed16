import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { berth, isRefusal } from "../api/client.ts";
import { folderQuery } from "../api/queries.ts";
import { useUnsaved } from "../ui/unsaved.ts";
import { useAction } from "../ui/use-action.ts";
import type { CodeEditor } from "./code-editor.ts";
import { fileQuery, type OpenedFile } from "./file-query.ts";
import { folderOf } from "./paths.ts";

/** A version of a text file. */
interface Version {
  text: string;
  etag: string | null;
}

interface EditedFile {
  name: string;
  path: string;
  opened: OpenedFile;
  /** The file's current version. */
  latest: Version;
  isDeleted: boolean;
}

/**
 * A text file in an editor. While it is unchanged there, it follows the file of the machine. `isConflict`: both have
 * changed since the editor's version.
 */
export function useEditedFile({ name, path, opened, latest, isDeleted }: EditedFile) {
  const queries = useQueryClient();
  const [editor, setEditor] = useState<CodeEditor | null>(null);
  const [base, setBase] = useState(latest);
  const [isChanged, setChanged] = useState(false);
  useUnsaved(isChanged);

  useEffect(() => {
    if (editor === null || latest.etag === base.etag) return;
    if (latest.text === editor.text) editor.markSaved(latest.text);
    else if (latest.text !== base.text && editor.isChanged) return;
    else if (latest.text !== base.text) editor.replace(latest.text);
    setBase(latest);
  }, [editor, latest, base]);

  const save = useAction(async (over: Version) => {
    const { queryKey } = fileQuery(name, path);
    const text = editor!.text;
    const condition = isDeleted ? { "if-none-match": "*" } : { "if-match": over.etag! };
    // A read of the earlier version must not replace the saved text.
    await queries.cancelQueries({ queryKey });
    let etag: string | null;
    try {
      ({ etag } = await berth.agent(name).files.write(path, text, { headers: condition }));
    } catch (error) {
      if (isRefusal(error, "precondition_failed")) await queries.invalidateQueries({ queryKey });
      const found = queries.getQueryData<OpenedFile>(queryKey);
      // The answer to an earlier try may have been lost.
      if (found?.shown.kind !== "text" || found.shown.text !== text || found.etag === over.etag) throw error;
      etag = found.etag;
    }
    const saved = { text, etag };
    editor!.markSaved(text);
    setBase(saved);
    // Its time is unknown until it is read again.
    const entry = { ...opened.entry, modifiedAt: "" };
    queries.setQueryData<OpenedFile>(queryKey, { entry, etag, shown: { kind: "text", text } });
    void queries.invalidateQueries({ queryKey });
    void queries.invalidateQueries({ queryKey: folderQuery(name, folderOf(path)).queryKey });
  });

  const isConflict = isChanged && !isDeleted && latest.etag !== base.etag && latest.text !== base.text;
  return {
    editor,
    setEditor,
    isChanged,
    setChanged,
    isConflict,
    action: save,
    /** Saves, unless the file has changed since the editor's version. */
    save: () => save.run(base),
    /** Saves over the version that the person was shown. */
    overwrite: () => save.run(latest),
    /** Discards the edits. */
    reload: () => {
      editor?.replace(latest.text);
      setBase(latest);
    },
  };
}
