import { BerthError } from "../../contract/errors.ts";
import { MediaType } from "../../contract/uploads.ts";
import { bytesOf, type GivenFile } from "../../uploads/content.ts";

/** A part of a message's content, as clients send it. */
export type ContentPart = Record<string, unknown>;

/** An image or a file of a message: its bytes, or the id of a stored one. */
export interface BroughtFile extends Omit<GivenFile, "source"> {
  source: Buffer | { fileId: string };
}

/** The content of a part, in the terms of either API. */
interface Brought {
  /** The field with the bytes, as errors name it. */
  field: string;
  value: unknown;
  fileName: unknown;
  kind: "image" | "file";
  /** The id of a stored file, instead of the bytes. */
  id?: unknown;
  /** Fields with which OpenAI refers to bytes elsewhere. */
  elsewhere: Record<string, unknown>;
}

/** The longest beginning of a data: URL, up to its comma. */
const maximumHead = 300;

/**
 * The image or the file in a part of a message's content; null if the part has none. `place` names the part in errors. Throws
 * `request_invalid`.
 */
export function fileOf(part: ContentPart, place: string): BroughtFile | null {
  const brought = broughtBy(part);
  if (!brought) return null;
  const { field, value, fileName, kind, elsewhere } = brought;
  const id = brought.id ?? null;
  for (const [name, given] of Object.entries(elsewhere)) {
    if (given !== undefined && given !== null)
      throw invalid(`${name} is not supported: send the bytes themselves, as ${field}.`);
  }
  const name = typeof fileName === "string" ? fileName : null;
  if (id !== null) {
    if (typeof id !== "string" || (value ?? null) !== null)
      throw invalid(`${place}: use either file_id or ${field}, as a text.`);
    return { kind, part: place, name, mediaType: null, source: { fileId: id } };
  }
  const { bytes, mediaType } = decoded(value, `${place}.${field}`, kind);
  return { kind, part: place, name, mediaType, source: bytes };
}

function broughtBy(part: ContentPart): Brought | null {
  switch (part.type) {
    case "input_image":
      return {
        field: "image_url",
        value: part.image_url,
        fileName: undefined,
        kind: "image",
        id: part.file_id,
        elsewhere: {},
      };
    case "input_file": {
      const { file_id, file_url } = part;
      return {
        field: "file_data",
        value: part.file_data,
        fileName: part.filename,
        kind: "file",
        id: file_id,
        elsewhere: { file_url },
      };
    }
    case "image_url": {
      const { url } = fieldsOf(part.image_url);
      return { field: "image_url.url", value: url, fileName: undefined, kind: "image", elsewhere: {} };
    }
    case "file": {
      const { file_data, filename, file_id } = fieldsOf(part.file);
      return {
        field: "file.file_data",
        value: file_data,
        fileName: filename,
        kind: "file",
        id: file_id,
        elsewhere: {},
      };
    }
    default:
      return null;
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The bytes of a data: URL (RFC 2397) with base64, or for a file of base64 alone. */
function decoded(value: unknown, field: string, kind: Brought["kind"]): { bytes: Buffer; mediaType: string | null } {
  const allowed = `${field} must be a data: URL with base64, such as data:image/png;base64,…`;
  if (typeof value !== "string") throw invalid(`${allowed}; it is missing.`);
  if (/^https?:/i.test(value)) throw invalid(`${allowed}; http and https addresses are not fetched.`);
  const isUrl = /^data:/i.test(value);
  if (!isUrl && kind === "image") throw invalid(`${allowed}.`);
  const comma = isUrl ? value.indexOf(",") : -1;
  const head = value.slice("data:".length, Math.max(comma, 0));
  if (isUrl && (comma < 0 || head.length > maximumHead || !/;base64$/i.test(head))) throw invalid(`${allowed}.`);
  const mediaType = head.split(";")[0]!;
  return { bytes: bytesOf(value.slice(comma + 1), field), mediaType: MediaType.safeParse(mediaType).data ?? null };
}

/** The stored form of the part, without its bytes. */
export function withoutBytes(part: ContentPart | null): ContentPart | null {
  if (part?.type === "input_image") return { ...part, image_url: null };
  if (part?.type === "input_file") return { ...part, file_data: null };
  return part;
}

function invalid(message: string): BerthError {
  return new BerthError("request_invalid", message);
}
