import { type RefObject, useEffect, useEffectEvent } from "react";
import { isTyping, usePrefix } from "../shell/shortcuts.ts";

/** The keys and what they move between, forwards and backwards. */
const steps: Readonly<Record<string, [selector: string, by: 1 | -1]>> = {
  j: ["[data-file]", 1],
  k: ["[data-file]", -1],
  n: ["[data-change]", 1],
  p: ["[data-change]", -1],
};

/** Moves the focus between files and changes by keys. */
export function useChangeKeys(root: RefObject<HTMLElement | null>): void {
  const follows = usePrefix();
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { key, metaKey, ctrlKey, altKey, target } = event;
    if (metaKey || ctrlKey || altKey || isTyping(target)) return;
    // `g k` opens a view.
    const isPrefixed = follows(key);
    const step = Object.hasOwn(steps, key) && !isPrefixed ? steps[key] : undefined;
    if (!step || !root.current) return;
    event.preventDefault();
    focusNext([...root.current.querySelectorAll<HTMLElement>(step[0])], step[1]);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

/** Focuses the element after or before the one that has the focus. */
function focusNext(elements: readonly HTMLElement[], by: 1 | -1): void {
  const focused = document.activeElement ?? document.body;
  const isPast = (each: HTMLElement) => {
    const relation = focused.compareDocumentPosition(each);
    return by === 1
      ? (relation & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
      : (relation & Node.DOCUMENT_POSITION_PRECEDING) !== 0 && (relation & Node.DOCUMENT_POSITION_CONTAINS) === 0;
  };
  const isInside = elements.some((each) => each === focused || each.contains(focused) || isPast(each));
  const next = by === 1 ? elements.find(isPast) : elements.findLast(isPast);
  const target = next ?? (isInside ? undefined : elements[0]);
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: by === 1 || target.dataset.file ? "start" : "center" });
}
