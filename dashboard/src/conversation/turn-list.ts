import type { Turn, TurnList } from "@berth/client";
import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { berth } from "../api/client.ts";
import { turnsFrom, turnsQuery } from "../api/queries.ts";
import { useAccountEvents } from "../api/use-live.ts";
import type { Draft } from "./draft.ts";

type Pages = InfiniteData<TurnList, string | null>;

/** How many turns at the end are looked at for news. */
const newest = 5;

/** An agent's turns, or those of a conversation, the oldest first, kept true; more of them with `older`. */
export function useTurns(name: string, conversation: number | null) {
  const queries = useQueryClient();
  const options = turnsQuery(name, conversation);
  const query = useInfiniteQuery(options);
  const turns = useMemo(() => begunTurns(query.data), [query.data]);
  const take = (fresh: readonly Turn[]) => {
    queries.setQueryData<Pages>(options.queryKey, (known) => known && merged(known, fresh));
  };
  const refresh = async () => {
    const { data } = await turnsFrom(name, conversation, { cursor: null, limit: newest, events: false });
    const known = queries.getQueryData<Pages>(options.queryKey)?.pages[0]?.data ?? [];
    const isGap = data.length === newest && !data.some(({ id }) => known.some((turn) => turn.id === id));
    if (isGap) await queries.invalidateQueries({ queryKey: options.queryKey });
    else take(data);
  };
  useAccountEvents(
    (event) => event.type.startsWith("turn.") && "agent" in event && event.agent === name,
    () => void refresh().catch(() => {}),
  );
  return {
    query,
    turns,
    /** A turn that this page has begun. */
    begun: (id: string, draft: Draft) => take([justBegun(id, draft, conversation ?? 1)]),
    /** Reads again a turn that has ended. */
    ended: async (id: string) => {
      take([await berth.agent(name).turn(id)]);
      await queries.invalidateQueries({ queryKey: ["billing"] });
    },
    refresh,
  };
}

/** A turn that was over does not run again: an answer may be older than what is known. */
function merged(known: Pages, fresh: readonly Turn[]): Pages {
  const byId = new Map(fresh.map((turn) => [turn.id, turn]));
  const pages = known.pages.map((page) => ({
    ...page,
    data: page.data.map((turn) => {
      const next = byId.get(turn.id);
      byId.delete(turn.id);
      return next && (isOver(next) || !isOver(turn)) ? withEventsOf(turn, next) : turn;
    }),
  }));
  const [first, ...rest] = pages;
  if (!first) return known;
  return { ...known, pages: [{ ...first, data: [...byId.values(), ...first.data] }, ...rest] };
}

/** The newer turn, with the events that only the known one came with. */
function withEventsOf(known: Turn, next: Turn): Turn {
  return known.events === undefined ? next : { events: known.events, ...next };
}

function isOver(turn: Turn): boolean {
  return turn.status !== "queued" && !isUnderWay(turn);
}

/** Whether it has begun and not ended. */
export function isUnderWay({ status }: Pick<Turn, "status">): boolean {
  return status === "running" || status === "waiting";
}

/** Those that have begun, in that order. A message that left the queue before it began is in the list of turns alone. */
function begunTurns(pages: { pages: TurnList[] } | undefined): Turn[] {
  const all = pages?.pages.flatMap(({ data }) => data) ?? [];
  return all
    .filter(
      ({ status, createdAt, queuedAt }) => status !== "queued" && !(status === "cancelled" && createdAt === queuedAt),
    )
    .toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : one.createdAt > other.createdAt ? 1 : 0));
}

function justBegun(id: string, { text, files }: Draft, conversation: number): Turn {
  return {
    id,
    conversation,
    message: text,
    attachments: [...files],
    reply: "",
    replyTruncated: false,
    status: "running",
    reason: null,
    output: null,
    error: null,
    askedBy: null,
    createdBy: null,
    queuedAt: null,
    undone: false,
    changes: null,
    model: null,
    effort: null,
    usage: {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      contextTokens: null,
      contextLimit: null,
      credits: null,
    },
    createdAt: new Date().toISOString(),
    finishedAt: null,
  };
}
