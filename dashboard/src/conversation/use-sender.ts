import type { QueuedTurn } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { berth, isRefusal } from "../api/client.ts";
import { queueQuery } from "../api/queries.ts";
import { useIsReachable } from "../api/use-live.ts";
import { useStoredState } from "../ui/stored-state.ts";
import type { Draft } from "./draft.ts";
import { liveTurnsOf } from "./live-turns.ts";

interface SenderOptions {
  /** The number of the conversation that messages are sent to. */
  conversation: number;
  /** Whether a turn runs. */
  isRunning: boolean;
  /** Whether messages can reach the turn. */
  canSteer: boolean;
  onBegun: (turnId: string, draft: Draft) => void;
}

/**
 * Sends messages one after the other. The service queues those that come while the agent works. A message that was refused
 * stays here, with all after it, until the user decides. While the service is away, messages wait here for its return.
 */
export function useSender(agent: string, { conversation, isRunning, canSteer, onBegun }: SenderOptions) {
  const queries = useQueryClient();
  const { data: { data: queue, held } = { data: [] as QueuedTurn[], held: null } } = useQuery(queueQuery(agent));
  const [unsent, setUnsent] = useStoredState<readonly Draft[]>(`unsent messages ${agent} ${conversation}`, []);
  const [sending, setSending] = useState<Draft | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const isReachable = useIsReachable();

  const send = useEffectEvent(async () => {
    const [draft, ...rest] = unsent;
    if (draft === undefined) return;
    setUnsent(rest);
    setSending(draft);
    try {
      const turnId = await liveTurnsOf(agent).begin(draft, conversation);
      if (turnId === null) await queries.invalidateQueries(queueQuery(agent));
      else onBegun(turnId, draft);
    } catch (error) {
      setUnsent([draft, ...rest]);
      setRefusal(error);
    } finally {
      setSending(null);
    }
  });

  const isReady = unsent.length > 0 && sending === null && refusal === null && isReachable;
  useEffect(() => {
    if (isReady) void send();
  }, [isReady]);

  /** Calls the service, and shows the queue that results. A message that has begun meanwhile is no problem. */
  const change = async (call: Promise<unknown>) => {
    setProblem(null);
    try {
      await call;
    } catch (error) {
      if (!isRefusal(error, "turn_not_queued") && !isRefusal(error, "turn_finished")) setProblem(error);
    }
    await queries.invalidateQueries(queueQuery(agent));
  };
  return {
    queue,
    /** How the turn ended that holds the queue; null: the queue is not held. */
    held,
    unsent,
    sending,
    isBusy: isRunning || sending !== null,
    canSteer,
    refusal,
    /** Why the queue could not be changed; null: it could. */
    problem,
    resume: () => void change(berth.agent(agent).queue.act({ action: "resume" })),
    discard: () => void change(berth.agent(agent).queue.act({ action: "discard" })),
    moveUp: ({ id, position }: QueuedTurn) =>
      void change(berth.agent(agent).queue.change(id, { position: Math.max(1, position - 1) })),
    remove: ({ id }: QueuedTurn) => void change(berth.agent(agent).cancel(id)),
    add: (draft: Draft) => {
      setUnsent([...unsent, draft]);
      setRefusal(null);
    },
    removeUnsent: (at: number) => {
      setUnsent(unsent.toSpliced(at, 1));
      if (unsent.length === 1) setRefusal(null);
    },
    /** After a refusal. */
    again: () => setRefusal(null),
  };
}
