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
 * ended. A message that was refused comes back to the front of the queue, which then waits for the user; so does the queue
 * of a turn that the user has interrupted.
 */
export function useSender(agent: string, { isRunning, onBegun, onElsewhere }: SenderOptions) {
  const [queue, setQueue] = useStoredState<readonly string[]>(`queue ${agent}`, []);
  const [sending, setSending] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [isHeld, setHeld] = useStoredState(`queue held ${agent}`, false);
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

  const isReady = queue.length > 0 && !isBusy && refusal === null && !isHeld;
  useEffect(() => {
    if (isReady) void send();
  }, [isReady]);

  return {
    queue,
    sending,
    isBusy,
    refusal,
    /** The user has interrupted the turn and decides what becomes of the queue. */
    isHeld: isHeld && queue.length > 0,
    hold: () => setHeld(queue.length > 0),
    release: () => setHeld(false),
    discard: () => {
      setQueue([]);
      setHeld(false);
    },
    add: (message: string) => {
      setQueue([...queue, message]);
      setRefusal(null);
      if (queue.length === 0) setHeld(false);
    },
    remove: (at: number) => setQueue(queue.toSpliced(at, 1)),
    /** After a refusal. */
    again: () => setRefusal(null),
  };
}
