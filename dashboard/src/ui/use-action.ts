import { useEffect, useState } from "react";

/** How long a success is shown. */
const doneMs = 5_000;

/** The state of an action, for its button or form. */
export interface ActionState {
  isBusy: boolean;
  error: unknown;
  /** It has succeeded a moment ago. */
  isDone: boolean;
}

interface Action<Arguments extends unknown[]> extends ActionState {
  run: (...given: Arguments) => void;
}

/** A button's action: whether it is in progress or has just succeeded, and its last error. */
export function useAction<Arguments extends unknown[] = []>(
  act: (...given: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [isBusy, setBusy] = useState(false);
  const [isDone, setDone] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (!isDone) return;
    const timer = setTimeout(() => setDone(false), doneMs);
    return () => clearTimeout(timer);
  }, [isDone]);
  const run = (...given: Arguments) => {
    setBusy(true);
    setDone(false);
    setError(null);
    act(...given)
      .then(() => setDone(true))
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { run, isBusy, error, isDone };
}
