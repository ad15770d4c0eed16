import type { FileEntry } from "@berth/client";
import { useEffect, useState } from "react";
import { berth } from "../api/client.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { messageOf } from "../ui/message.ts";
import { Loading, Notice } from "../ui/Notice.tsx";
import { bytes } from "./bytes.ts";

/** A larger file is downloaded instead. */
const shownBytes = 1024 * 1024;
/** Pictures that run nothing; an SVG is shown as text. */
const pictures = /\.(png|jpe?g|gif|webp|avif)$/i;

type Shown = { kind: "picture"; url: string } | { kind: "text"; text: string };

/** The content of a file: a picture or text. Anything else can be downloaded. */
export function FileView({ name, entry, onClose }: { name: string; entry: FileEntry; onClose: () => void }) {
  const [shown, setShown] = useState<Shown | null>(null);
  const [problem, setProblem] = useState<string | null>(
    entry.size > shownBytes ? `It has ${bytes(entry.size)}, too much to show. Download it instead.` : null,
  );
  const isReadable = problem === null;
  useEffect(() => {
    if (!isReadable) return;
    const abort = new AbortController();
    let url: string | null = null;
    const read = async () => {
      const response = await berth.agent(name).files.read(entry.path, { signal: abort.signal });
      const blob = await response.blob();
      if (pictures.test(entry.name)) {
        url = URL.createObjectURL(blob);
        setShown({ kind: "picture", url });
        return;
      }
      const text = await blob.text();
      if (text.includes("\0")) setProblem("It is not text. Download it instead.");
      else setShown({ kind: "text", text });
    };
    read().catch((error: unknown) => abort.signal.aborted || setProblem(messageOf(error)));
    return () => {
      abort.abort();
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [name, entry, isReadable]);
  return (
    <Dialog isOpen onClose={onClose} title={entry.name} isWide>
      {problem !== null && <Notice tone="warn">{problem}</Notice>}
      {problem === null && shown === null && <Loading />}
      {shown?.kind === "picture" && (
        <img src={shown.url} alt={entry.name} className="max-h-[60vh] max-w-full justify-self-center object-contain" />
      )}
      {shown?.kind === "text" && (
        <pre tabIndex={0} className="max-h-[60vh] overflow-auto rounded-lg bg-sunken p-3 font-mono text-[13px]">
          {shown.text === "" ? "(empty)" : shown.text}
        </pre>
      )}
    </Dialog>
  );
}
