import { useSyncExternalStore } from "react";

const wide = matchMedia("(width >= 1400px)");

/** Whether the window has space for two views. */
export function useIsWide(): boolean {
  return useSyncExternalStore(watch, () => wide.matches);
}

function watch(changed: () => void): () => void {
  wide.addEventListener("change", changed);
  return () => wide.removeEventListener("change", changed);
}
