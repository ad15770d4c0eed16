import { ApiError, Berth } from "@berth/client";
import { accessToken, goToSignIn } from "./session.ts";

/** The service, as the one who is signed in. */
export const berth = new Berth({
  url: location.origin,
  token: async () => {
    const token = await accessToken();
    if (token === null) goToSignIn();
    return token;
  },
});

/** Whether the service refused with this code. */
export function isRefusal(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}

/** The first so many items of a list, and whether there are more. */
export async function firstOf<Item>(
  pages: AsyncIterable<Item>,
  most: number,
): Promise<{ items: Item[]; hasMore: boolean }> {
  const items: Item[] = [];
  for await (const item of pages) {
    if (items.length === most) return { items, hasMore: true };
    items.push(item);
  }
  return { items, hasMore: false };
}
