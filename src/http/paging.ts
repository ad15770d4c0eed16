import { BerthError } from "../contract/errors.ts";

/** A part of a list, and where the next begins. */
export interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** A page from one item more than it may have; `keyOf` is what the next page begins after. */
export function pageOf<Item>(items: Item[], limit: number, keyOf: (item: Item) => string): Page<Item> {
  const data = items.slice(0, limit);
  return { data, nextCursor: items.length > limit ? toCursor(keyOf(data.at(-1)!)) : null };
}

/** What a cursor says to begin after; null without one. Throws `request_invalid` for one that no list has answered. */
export function fromCursor(cursor: string | undefined, pattern: RegExp): string | null {
  if (cursor === undefined) return null;
  const key = Buffer.from(cursor, "base64url").toString("utf8");
  if (pattern.test(key)) return key;
  throw new BerthError("request_invalid", "cursor: not one that a list has answered.");
}

function toCursor(key: string): string {
  return Buffer.from(key).toString("base64url");
}
