import { BerthError } from "../../contract/errors.ts";
import { uuidPattern } from "../../contract/ids.ts";

export interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** Makes a page from up to `limit` + 1 items; `keyOf` returns what the next page begins after. */
export function pageOf<Item>(items: Item[], limit: number, keyOf: (item: Item) => string): Page<Item> {
  const data = items.slice(0, limit);
  return { data, nextCursor: items.length > limit ? toCursor(keyOf(data.at(-1)!)) : null };
}

/** Limit on the rows read for a page whose filter no index serves. */
export const maximumSought = 20_000;

/** Items up to `stoppedAt`, or up to the end of the list if that is null. */
export interface Sought<Item, Key> {
  found: Item[];
  stoppedAt: Key | null;
}

/** Like `pageOf`, for a list that was read up to a limit: a page with few or no items may have a cursor. */
export function pageOfSought<Item, Key>(
  { found, stoppedAt }: Sought<Item, Key>,
  limit: number,
  keyOf: (at: Item | Key) => string,
): Page<Item> {
  const page = pageOf(found, limit, keyOf);
  if (page.nextCursor !== null || stoppedAt === null) return page;
  return { ...page, nextCursor: toCursor(keyOf(stoppedAt)) };
}

/** Null without a cursor. Throws `request_invalid` for an invalid cursor. */
export function fromCursor(cursor: string | undefined, pattern: RegExp): string | null {
  if (cursor === undefined) return null;
  const key = Buffer.from(cursor, "base64url").toString("utf8");
  if (pattern.test(key)) return key;
  throw new BerthError("request_invalid", "cursor: not from a response of this list.");
}

/** The key of a row in a list by creation time, and its pattern: `ID@MILLISECONDS`, which outlives the row. */
export function timedKey({ id, createdAt }: { id: string; createdAt: Date | string }): string {
  return `${id}@${new Date(createdAt).getTime()}`;
}
export const timedPattern = new RegExp(`${uuidPattern.source.slice(0, -1)}@\\d{1,15}$`);

function toCursor(key: string): string {
  return Buffer.from(key).toString("base64url");
}
