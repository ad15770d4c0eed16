import { useSyncExternalStore } from "react";

// Whether the service answers. Every request of the page tells; while it does not answer, this asks by itself.

const askEveryMs = 2_000;

let isReachable = true;
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

/** What a request has found out. */
export function told(answers: boolean): void {
  if (answers === isReachable) return;
  isReachable = answers;
  clearInterval(timer);
  if (!answers) timer = setInterval(ask, askEveryMs);
  for (const changed of watchers) changed();
}

async function ask(): Promise<void> {
  const response = await fetch("/healthz").catch(() => null);
  if (response?.ok) told(true);
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/** Calls back each time the service answers again. */
export function onReachableAgain(again: () => void): () => void {
  return watch(() => isReachable && again());
}

export function useIsReachable(): boolean {
  return useSyncExternalStore(watch, () => isReachable);
}
