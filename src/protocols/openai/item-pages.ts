import type { z } from "zod";
import { BerthError } from "../../contract/errors.ts";
import type { InputItemsQuery } from "../../contract/openai.ts";
import type { PastTurnStore } from "../../turns/past-store.ts";
import { type PresentItem, presentKept, presentTurn, turnOfItem } from "./conversation-items.ts";
import type { BoundConversation } from "./conversation-store.ts";

export type PageQuery = Pick<z.output<typeof InputItemsQuery>, "limit" | "order" | "after">;

/** A page of a conversation's items: the kept ones, then messages and replies. Throws `request_invalid`. */
export async function itemPage(past: PastTurnStore, conversation: BoundConversation, query: PageQuery) {
  const { limit, after } = query;
  const found = await candidates(past, conversation, query);
  const start = after === undefined ? 0 : found.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0)
    throw new BerthError("request_invalid", "after: the conversation has no item with this id.");
  return { data: found.slice(start, start + limit), hasMore: found.length > start + limit };
}

/** Items from the one named by `after`, or the first; more of them than a page has, if there are more. */
async function candidates(
  past: PastTurnStore,
  { place, items }: BoundConversation,
  { limit, order, after }: PageQuery,
): Promise<PresentItem[]> {
  const kept = items.map(presentKept);
  const from = after === undefined ? null : turnOfItem(after);
  const isAfterKept = after !== undefined && from === null;
  if (order === "desc") kept.reverse();
  // In reverse, kept items are the last ones.
  if (!place || (order === "desc" && isAfterKept)) return kept;
  const count = Math.ceil(limit / 2) + 2;
  const turns = await past.remembered(place.agentId, place.conversation, { limit: count, order, from });
  const said = turns.flatMap((turn) => (order === "asc" ? presentTurn(turn) : presentTurn(turn).reverse()));
  if (order === "asc") return from === null ? [...kept, ...said] : said;
  return turns.length < count ? [...said, ...kept] : said;
}
