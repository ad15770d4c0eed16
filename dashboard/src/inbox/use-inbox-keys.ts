import { type RefObject, useEffect, useEffectEvent } from "react";
import { isTyping, usePrefix } from "../shell/shortcuts.ts";

/** Moves the focus between items with `j` and `k`, and dismisses the focused one with `e`. */
export function useInboxKeys(root: RefObject<HTMLElement | null>, dismiss: (id: string) => void): void {
  const follows = usePrefix();
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { key, metaKey, ctrlKey, altKey, target } = event;
    if (metaKey || ctrlKey || altKey || isTyping(target) || follows(key) || !root.current) return;
    const links = [...root.current.querySelectorAll<HTMLElement>("[data-inbox-item]")];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const next = key === "j" ? links[at + 1] : key === "k" ? links[at - 1] : null;
    if (next) {
      event.preventDefault();
      next.focus();
    } else if (key === "e" && at >= 0) {
      event.preventDefault();
      dismiss(links[at]!.dataset.inboxItem!);
      (links[at + 1] ?? links[at - 1])?.focus();
    }
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}
