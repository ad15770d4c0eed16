import { useSyncExternalStore } from "react";

/** Whether the tab is in front. */
export function useIsVisible(): boolean {
  return useSyncExternalStore(watch, () => document.visibilityState === "visible");
}

function watch(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}
