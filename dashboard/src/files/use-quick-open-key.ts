import { useEffect, useEffectEvent } from "react";

/** Calls back for ⌘P or Ctrl-P. */
export function useQuickOpenKey(open: () => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { key, metaKey, ctrlKey, altKey, shiftKey } = event;
    if (!(metaKey || ctrlKey) || altKey || shiftKey || key.toLowerCase() !== "p") return;
    event.preventDefault();
    open();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}
