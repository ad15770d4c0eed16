import type { FileEntry } from "@berth/client";
import { queryOptions } from "@tanstack/react-query";
import { bytes } from "../agent/bytes.ts";
import { berth } from "../api/client.ts";
import { textOf } from "./text.ts";

/** A larger text is downloaded instead. */
const mostTextBytes = 2 * 1024 * 1024;
const mostPictureBytes = 20 * 1024 * 1024;
/** Pictures that run nothing. */
const pictures = /\.(png|jpe?g|gif|webp|avif|ico|bmp)$/i;

/** A file as the dashboard shows it. */
type Shown =
  | { kind: "text"; text: string }
  | { kind: "picture"; blob: Blob }
  | { kind: "folder" }
  /** Too large, or bytes. */
  | { kind: "other"; reason: string };

/** A file of an agent. `etag`: of its bytes; null where it changes while it is read, or was not read. */
export interface OpenedFile {
  entry: FileEntry;
  etag: string | null;
  shown: Shown;
}

/** A file's content. It is read again only if its size or its time has changed. */
export function fileQuery(name: string, path: string) {
  const queryKey = ["agents", name, "files", "file", path];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }) => {
      const files = berth.agent(name).files;
      const entry = await files.stat(path, { signal });
      const before = client.getQueryData<OpenedFile>(queryKey);
      if (before?.entry.modifiedAt === entry.modifiedAt && before.entry.size === entry.size) return before;
      return read(entry, () => files.read(path, { signal }));
    },
    staleTime: 0,
    refetchOnWindowFocus: false,
  });
}

async function read(entry: FileEntry, open: () => Promise<Response>): Promise<OpenedFile> {
  const shown = notRead(entry);
  if (shown !== null) return { entry, etag: null, shown };
  const response = await open();
  const etag = response.headers.get("etag");
  if (pictures.test(entry.name)) return { entry, etag, shown: { kind: "picture", blob: await response.blob() } };
  const content = await firstBytes(response, mostTextBytes);
  if (content === null) return { entry, etag: null, shown: { kind: "other", reason: tooLarge(entry) } };
  const text = textOf(content);
  return { entry, etag, shown: text === null ? { kind: "other", reason: notText } : { kind: "text", text } };
}

const notText = "This file is not text in UTF-8.";

function tooLarge({ size }: FileEntry): string {
  return size > mostTextBytes ? `This file is too large to show (${bytes(size)}).` : "This file is too large to show.";
}

/** Decides by the entry alone. Null: the file has to be read. */
function notRead(entry: FileEntry): Shown | null {
  const { type, size, name, target } = entry;
  if (type === "folder") return { kind: "folder" };
  if (type === "link") return { kind: "other", reason: `This link leads to ${target}, which does not exist.` };
  if (type !== "file") return { kind: "other", reason: `This is a ${type}, not a regular file.` };
  const most = pictures.test(name) ? mostPictureBytes : mostTextBytes;
  return size > most ? { kind: "other", reason: tooLarge(entry) } : null;
}

/** All bytes of a response; null if it has more than `most`. A file such as those of `/proc` does not give its size. */
async function firstBytes(response: Response, most: number): Promise<Uint8Array | null> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = response.body!.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    parts.push(value);
    length += value.length;
    if (length <= most) continue;
    await reader.cancel();
    return null;
  }
}
