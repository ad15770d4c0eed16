import type { IncomingHttpHeaders } from "node:http";

// Conditional and range requests (RFC 9110, sections 13 and 14).

/** A part of a file, in bytes. */
export interface Part {
  start: number;
  length: number;
}

/** Null without the header. */
export function entityTagsOf(header: string | undefined): string[] | null {
  if (header === undefined) return null;
  return header
    .split(",")
    .map((tag) => tag.trim().slice(0, 200))
    .filter((tag) => tag !== "")
    .slice(0, 20);
}

/** Whether to respond with 304. */
export function isUnchanged(headers: IncomingHttpHeaders, etag: string, modified: Date): boolean {
  const tags = entityTagsOf(headers["if-none-match"]);
  if (tags) return tags.some((tag) => tag === "*" || tag.replace(/^W\//, "") === etag);
  const since = Date.parse(headers["if-modified-since"] ?? "");
  return Math.floor(modified.getTime() / 1000) * 1000 <= since;
}

/**
 * The part that `Range` requests. Null for the whole file: without the header, for several parts, and if `If-Range`
 * names another version.
 */
export function partOf(
  { range, "if-range": ifRange }: IncomingHttpHeaders,
  size: number,
  etag: string,
  modified: Date,
): Part | "unsatisfiable" | null {
  const asked = /^bytes=(\d*)-(\d*)$/.exec(range?.trim() ?? "");
  if (!asked || asked[0] === "bytes=-") return null;
  if (typeof ifRange === "string" && ifRange !== etag && ifRange !== modified.toUTCString()) return null;
  const [first, last] = [asked[1]!, asked[2]!];
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, length };
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "unsatisfiable" : { start, length: end - start + 1 };
}
