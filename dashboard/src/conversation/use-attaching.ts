import type { Attachment } from "@berth/client";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { messageOf } from "../ui/message.ts";

const mostFiles = 20;
const mostBytes = 100 * 1024 * 1024;
const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** Larger images are sent as files. */
const mostImageBytes = 10 * 1024 * 1024;

/** Uploads files for a message, one after the other. `add` is called with each that has arrived. */
export function useAttaching(agent: string, count: number, add: (attachment: Attachment) => void) {
  const [uploading, setUploading] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string | null>(null);

  const upload = async (file: File) => {
    if (file.size === 0) throw new Error(`${file.name} is empty.`);
    if (file.size > mostBytes) throw new Error(`${file.name} is larger than 100 MiB. Write it in Files instead.`);
    const { id, name, mediaType, size } = await berth.agent(agent).uploads.create(file, { name: file.name });
    const isImage = imageTypes.includes(mediaType) && size <= mostImageBytes;
    add({ id, kind: isImage ? "image" : "file", name, mediaType, size });
  };

  const attach = async (files: readonly File[]) => {
    setProblem(count + files.length > mostFiles ? `A message has up to ${mostFiles} images and files.` : null);
    const taken = files.slice(0, mostFiles - count);
    setUploading(taken.map(({ name }) => name));
    for (const file of taken) {
      await upload(file).catch((error: unknown) => setProblem(messageOf(error)));
      setUploading((names) => names.slice(1));
    }
  };
  return { uploading, problem, attach: (files: readonly File[]) => void attach(files) };
}
