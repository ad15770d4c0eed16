import { useSyncExternalStore } from "react";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark, as the person or the system chose. */
export function useIsDark(): boolean {
  return useSyncExternalStore(watch, isDark);
}

function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined ? system.matches : theme === "dark";
}

function watch(changed: () => void): () => void {
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", changed);
  return () => {
    chosen.disconnect();
    system.removeEventListener("change", changed);
  };
}
