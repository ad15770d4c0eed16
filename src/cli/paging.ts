import type { Client } from "./client.ts";

/** The beginning of one of the API's lists, and where the rest begins; null when there is none. */
export interface List<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** The most that the API answers at once. */
const pageSize = 100;

/**
 * The items of the list at a path, page by page: the first `limit` or all, of those that `filter` asks for in the query.
 * Throws as `Client.request`.
 */
export async function readList<Item>(
  client: Client,
  path: string,
  limit = Infinity,
  filter: Record<string, string> = {},
): Promise<List<Item>> {
  const data: Item[] = [];
  let nextCursor: string | null = null;
  do {
    const size = Math.min(pageSize, limit - data.length);
    const cursor: Record<string, string> = nextCursor === null ? {} : { cursor: nextCursor };
    const query = new URLSearchParams({ limit: String(size), ...filter, ...cursor });
    const page: List<Item> = await client.json<List<Item>>("GET", `${path}?${query}`);
    data.push(...page.data);
    nextCursor = page.nextCursor;
  } while (nextCursor !== null && data.length < limit);
  return { data, nextCursor };
}
