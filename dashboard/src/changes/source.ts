import type { AgentChanges, Turn, TurnChangesWithDiffs } from "@berth/client";
import { queryOptions } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { turnsKey } from "../api/queries.ts";
import { useTurns } from "../conversation/turn-list.ts";
import { filtersIn, useFilters } from "../ui/filters.ts";

/** One turn, or all turns since a snapshot or from a turn on. */
export type Source = { kind: "turn"; turnId: string } | { kind: "since"; since: string; newest: string };

/** The changes of one turn never change. `newest`: the last turn that ended; those since a point are read again after it. */
export function changesQuery(agent: string, source: Source) {
  return queryOptions<TurnChangesWithDiffs | AgentChanges>({
    queryKey:
      source.kind === "turn"
        ? [...turnsKey(agent), source.turnId, "changes"]
        : ["agents", agent, "changes", source.since, source.newest],
    queryFn: ({ signal }) =>
      source.kind === "turn"
        ? berth.agent(agent).changes(source.turnId, { signal })
        : berth.agent(agent).changesSince({ since: source.since }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The filters of the view, in its address. */
export type ChangeFilter = "turn" | "since" | "search";
export type ChangeFilters = Partial<Record<ChangeFilter, string | undefined>>;
export const changeFiltersIn = filtersIn<ChangeFilter>("turn", "since", "search");

/** The turns that can be reviewed, the newest first, and what the address chooses of them; null: there is nothing yet. */
export function useSource(agent: string) {
  const { query, turns } = useTurns(agent, null);
  const [{ turn, since }] = useFilters<ChangeFilter>();
  const ended = turns.filter(({ finishedAt }) => finishedAt !== null).toReversed();
  const changed = ended.filter(hasChanges);
  const newest = ended[0]?.id ?? "";
  return { query, turns: changed, source: sourceOf(turn, since, changed[0]?.id, newest) };
}

function sourceOf(
  turn: string | undefined,
  since: string | undefined,
  newestChanged: string | undefined,
  newest: string,
): Source | null {
  if (since) return { kind: "since", since, newest };
  const turnId = turn || newestChanged;
  return turnId ? { kind: "turn", turnId } : null;
}

function hasChanges({ changes }: Turn): boolean {
  return changes !== null && countOf(changes) > 0;
}

export function countOf({ created, changed, deleted }: Pick<TurnChangesWithDiffs, "created" | "changed" | "deleted">) {
  return created + changed + deleted;
}
