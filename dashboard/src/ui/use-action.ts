import { useState } from "react";

interface Action<Arguments extends unknown[]> {
  run: (...given: Arguments) => void;
  isBusy: boolean;
  error: unknown;
}

/** A button's action: whether it is in progress, and its last error. */
export function useAction<Arguments extends unknown[] = []>(
  act: (...given: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = (...given: Arguments) => {
    setBusy(true);
    setError(null);
    act(...given)
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { run, isBusy, error };
}
