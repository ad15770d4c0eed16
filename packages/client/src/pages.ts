/** The start of a list, and the cursor for the rest; null if there is none. */
export interface Page<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** The largest page the service returns. */
const pageSize = 100;

/** A list that is fetched page by page while it is read. */
export class Pages<Item> implements AsyncIterable<Item> {
  readonly #fetch: (limit: number, cursor: string | null) => Promise<Page<Item>>;

  /** `fetch` returns the page after a cursor, null for the first, with at most `limit` items. */
  constructor(fetch: (limit: number, cursor: string | null) => Promise<Page<Item>>) {
    this.#fetch = fetch;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    let cursor: string | null = null;
    do {
      const page: Page<Item> = await this.#fetch(pageSize, cursor);
      yield* page.data;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }

  /** The first `limit` items, or all, and the cursor after them. */
  async take(limit = Infinity): Promise<Page<Item>> {
    const data: Item[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<Item> = await this.#fetch(Math.min(pageSize, limit - data.length), cursor);
      data.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== null && data.length < limit);
    return { data, nextCursor: cursor };
  }

  /** All items. */
  async all(): Promise<Item[]> {
    return (await this.take()).data;
  }
}
