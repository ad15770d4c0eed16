import { useState } from "react";

interface Action<Arguments extends unknown[]> {
  run: (...given: Arguments) => void;
  isBusy: boolean;
  error: unknown;
}

/** Something that a button does: whether it goes on, and what went wrong with it last. */
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
