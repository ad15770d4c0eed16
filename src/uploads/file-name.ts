import mime from "mime";

/** The longest name, in characters of up to four bytes: file systems allow 255 bytes. */
const maximumName = 60;

/**
 * A name that is one file's in a folder, on one line, without characters that change how it is shown. Null if nothing is
 * left of it.
 */
export function safeName(name: string): string | null {
  const last = name.slice(-1_000).split(/[/\\]/).at(-1)!.toWellFormed();
  const plain = last.replaceAll(/[^\p{L}\p{M}\p{N} ._()+@-]/gu, "_").replace(/^[. -]+/, "");
  const characters = [...plain.trim()];
  if (characters.length <= maximumName) return characters.join("") || null;
  const extension = /\.[a-z0-9]{1,10}$/i.exec(plain.trim())?.[0] ?? "";
  return characters.slice(0, maximumName - extension.length).join("") + extension;
}

/** The name of a file that has none, by its type and its place among the message's files. */
export function usualName(kind: "image" | "file", mediaType: string, number: number): string {
  return `${kind}-${number}.${mime.getExtension(mediaType) || "bin"}`;
}

/** The media type of a file with that name. */
export function typeByName(name: string): string {
  return mime.getType(name) ?? "application/octet-stream";
}
