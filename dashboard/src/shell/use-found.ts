import type { SearchMatch } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { foundQuery } from "../api/queries.ts";
import { useSettled } from "../ui/use-settled.ts";

/** How long no key is pressed before the service is asked. */
const settleMs = 200;

/** A letter, a digit or an emoji, without which the service finds nothing. */
const searchable = /[\p{L}\p{N}\p{ExtPict}\p{RI}]/u;
const maximumSearch = 200;

interface Found {
  matches: readonly SearchMatch[];
  isSearching: boolean;
  error: unknown;
}

/** Messages and replies for what is typed: never those for an earlier text. */
export function useFound(typed: string): Found {
  const text = typed.trim();
  const settled = useSettled(text, settleMs);
  const isAsked = searchable.test(text) && text.length <= maximumSearch;
  const { data = [], isFetching, error } = useQuery({ ...foundQuery(settled), enabled: isAsked && settled === text });
  if (!isAsked) return { matches: [], isSearching: false, error: null };
  if (settled !== text) return { matches: [], isSearching: true, error: null };
  return { matches: data, isSearching: isFetching && data.length === 0, error: isFetching ? null : error };
}
