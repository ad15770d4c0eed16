import { useEffect, useEffectEvent, useState } from "react";
import { isRefusal } from "../api/client.ts";
import { liveTurnsOf } from "./live-turns.ts";
import { useStoredState } from "./stored-state.ts";

interface SenderOptions {
  /** Whether a turn runs. */
  isRunning: boolean;
  onBegun: (turnId: string, message: string) => void;
  /** Another page's turn runs. */
  onElsewhere: () => void;
}

/**
 * Sends messages one after the other: what is typed while the agent works waits here, and is sent when the turn has
 * ended. A message that was refused comes back to the front of the queue, which then waits to be told.
 */
export function useSender(agent: string, { isRunning, onBegun, onElsewhere }: SenderOptions) {
  const [queue, setQueue] = useStoredState<readonly string[]>(`queue ${agent}`, []);
  const [sending, setSending] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);
  const isBusy = isRunning || sending !== null;

  const send = useEffectEvent(async () => {
    const [message, ...rest] = queue;
    if (message === undefined) return;
    setQueue(rest);
    setSending(message);
    try {
      onBegun(await liveTurnsOf(agent).begin(message), message);
    } catch (error) {
      setQueue([message, ...rest]);
      if (isRefusal(error, "turn_in_progress")) onElsewhere();
      else setRefusal(error);
    } finally {
      setSending(null);
    }
  });

  const isReady = queue.length > 0 && !isBusy && refusal === null;
  useEffect(() => {
    if (isReady) void send();
  }, [isReady]);

  return {
    queue,
    sending,
    isBusy,
    refusal,
    add: (message: string) => {
      setQueue([...queue, message]);
      setRefusal(null);
    },
    remove: (at: number) => setQueue(queue.toSpliced(at, 1)),
    /** After a refusal. */
    again: () => setRefusal(null),
  };
}
