import type { z } from "zod";
import { BerthError } from "../../contract/errors.ts";
import { hexOf } from "../../contract/ids.ts";
import type { InputItem, InputItemsQuery } from "../../contract/openai.ts";
import type { ResponseState } from "./stored-responses.ts";

/** A page of a response's input items. Throws `request_invalid` for an unknown `after`. */
export function inputItemPage(response: ResponseState, { limit, order, after }: z.output<typeof InputItemsQuery>) {
  const hex = hexOf(response.id);
  const items = (response.input as InputItem[]).map((item, index) => present(item, `in_${hex}${index}`));
  if (order === "desc") items.reverse();
  const begin = after === undefined ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && begin === 0)
    throw new BerthError("request_invalid", "after: the response has no item with this id.");
  const data = items.slice(begin, begin + limit);
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: begin + limit < items.length,
  };
}

/** The item in its full form: a message's text may be sent without its part. */
function present(item: InputItem, id: string) {
  const { type = "message", content } = item;
  const parts = typeof content === "string" ? { content: [{ type: "input_text", text: content }] } : {};
  return { ...item, type, ...parts, id, status: "completed" };
}
