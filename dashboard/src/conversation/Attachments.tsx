import type { Attachment } from "@berth/client";
import { File, X } from "lucide-react";
import { useEffect, useState } from "react";
import { bytes } from "../agent/bytes.ts";
import { saveAs } from "../agent/save-as.ts";
import { berth } from "../api/client.ts";

interface AttachmentsProps {
  agent: string;
  attachments: readonly Attachment[];
  /** Null where they cannot be removed. */
  onRemove: ((id: string) => void) | null;
}

/** The images and files of a message. A click downloads one. */
export function Attachments({ agent, attachments, onRemove }: AttachmentsProps) {
  return (
    <ul aria-label="Images and files" className="flex flex-wrap gap-2">
      {attachments.map((attachment, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same may be attached twice
        <li key={`${attachment.id} ${at}`} className="relative max-w-full">
          <Item agent={agent} attachment={attachment} isRemovable={onRemove !== null} />
          {onRemove && (
            <button
              type="button"
              aria-label={`Remove: ${attachment.name}`}
              onClick={() => onRemove(attachment.id)}
              className="absolute -top-2 -right-2 rounded-full border bg-raised p-1 shadow-sm hover:bg-sunken pointer-coarse:p-2"
            >
              <X className="size-3" aria-hidden />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

interface ItemProps {
  agent: string;
  attachment: Attachment;
  isRemovable: boolean;
}

/** An image, unless its upload has expired; for other files, the name and size. */
function Item({ agent, attachment, isRemovable }: ItemProps) {
  const { id, kind, name, size } = attachment;
  const [isGone, setIsGone] = useState(false);
  const picture = usePicture(agent, kind === "image" && !isGone ? id : null, () => setIsGone(true));
  const save = async () => {
    try {
      saveAs(await (await berth.agent(agent).uploads.read(id)).blob(), name);
    } catch {
      setIsGone(true);
    }
  };
  return (
    <button
      type="button"
      disabled={isGone}
      title={isGone ? `${name} has expired. It is in the agent's inbox folder.` : `Download ${name}`}
      onClick={() => void save()}
      className="flex max-w-full items-center gap-2 overflow-hidden rounded-xl border bg-surface text-left text-sm hover:bg-sunken disabled:opacity-70"
    >
      {picture ? (
        <img src={picture} alt={name} className="h-24 max-w-40 min-w-16 object-cover" />
      ) : (
        <span className={`flex min-w-0 items-center gap-2 py-2 pl-3 ${isRemovable ? "pr-7" : "pr-3"}`}>
          <File className="size-4 shrink-0 text-muted" aria-hidden />
          <span className="truncate">{name}</span>
          <span className="shrink-0 text-xs text-muted">{isGone ? "expired" : bytes(size)}</span>
        </span>
      )}
    </button>
  );
}

/** The address of an image in this page; null until it is there. */
function usePicture(agent: string, id: string | null, onGone: () => void): string | null {
  const [picture, setPicture] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an image is read once
  useEffect(() => {
    if (id === null) return;
    const left = new AbortController();
    let url: string | null = null;
    const read = async () => {
      const response = await berth.agent(agent).uploads.read(id, { signal: left.signal });
      url = URL.createObjectURL(await response.blob());
      setPicture(url);
    };
    read().catch(() => left.signal.aborted || onGone());
    return () => {
      left.abort();
      if (url) URL.revokeObjectURL(url);
    };
  }, [agent, id]);
  return picture;
}
