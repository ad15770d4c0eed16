import { problemOfMessage } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import { type ContentPart, maximumAttachments } from "../contract/uploads.ts";

/** An image or a file of a message, before it is stored. */
export interface GivenFile {
  kind: "image" | "file";
  /** Its part of the request, as errors name it. */
  part: string;
  /** Null: the upload's own, or one by the type. */
  name: string | null;
  /** Null: the upload's own, or by the bytes or the name. */
  mediaType: string | null;
  source: Buffer | { uploadId: string } | StoredFile;
}

/** A file that is stored elsewhere; its bytes come in parts. */
export interface StoredFile {
  size: number;
  bytes: () => AsyncIterable<Buffer>;
}

/** A message: its text, and its images and files. */
export interface MessageContent {
  text: string;
  files: readonly GivenFile[];
}

/** The content of a message. Throws `request_invalid`, which names the part. */
export function contentOf(parts: readonly ContentPart[]): MessageContent {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const files = parts.flatMap((part, index) => (part.type === "text" ? [] : [fileOf(part, `content.${index}`)]));
  return checked({ text: texts.join("\n\n"), files }, "content");
}

function fileOf({ type, data, fileId, name, mediaType }: Exclude<ContentPart, { type: "text" }>, part: string) {
  const source = fileId === undefined ? bytesOf(data!, `${part}.data`) : { uploadId: fileId };
  return { kind: type, part, name: name ?? null, mediaType: mediaType ?? null, source };
}

/** The content, if a message may have it. A message of images and files needs no text. Throws `request_invalid`. */
export function checked<Content extends { text: string; files: readonly unknown[] }>(
  content: Content,
  field: string,
): Content {
  const { text, files } = content;
  if (files.length > maximumAttachments)
    throw new BerthError(
      "request_invalid",
      `${field}: a message is limited to ${maximumAttachments} images and files; it has ${files.length}.`,
    );
  const problem = text === "" && files.length > 0 ? null : problemOfMessage(text);
  if (problem !== null) throw new BerthError("request_invalid", `${field}: ${problem}`);
  return content;
}

/** The bytes of a text in base64. Throws `request_invalid`. */
export function bytesOf(text: string, field: string): Buffer {
  if (text === "") throw new BerthError("request_invalid", `${field}: the file is empty; send at least one byte.`);
  if (text.length % 4 === 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw new BerthError("request_invalid", `${field}: this is not base64 (RFC 4648, without line breaks).`);
  return Buffer.from(text, "base64");
}
