import { useNavigate } from "@tanstack/react-router";
import { useEffect, useEffectEvent, useRef } from "react";
import type { Place } from "./places.ts";

/** How long `g` waits for the letter of a view. */
const prefixMs = 1_500;

interface Keys {
  places: readonly Place[];
  mayCreate: boolean;
  /** For ⌘K or Ctrl-K. */
  openPalette: () => void;
  /** For `?`. */
  openShortcuts: () => void;
}

/** Keys that work wherever nothing is being typed. `Shortcuts.tsx` lists them. */
export function useShortcuts({ places, mayCreate, openPalette, openShortcuts }: Keys): void {
  const navigate = useNavigate();
  const follows = usePrefix();
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { key, metaKey, ctrlKey, altKey } = event;
    if ((metaKey || ctrlKey) && key.toLowerCase() === "k") {
      event.preventDefault();
      return openPalette();
    }
    if (metaKey || ctrlKey || altKey || isTyping(event.target)) return;
    const isPrefixed = follows(key);
    const place = isPrefixed && places.find((each) => each.key === key);
    if (place) void navigate({ to: place.to });
    else if (key === "c" && mayCreate) void navigate({ to: "/create-agent" });
    else if (key === "?") openShortcuts();
    else return;
    event.preventDefault();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

/** Tells for each key whether it follows `g`, and so opens a view. */
export function usePrefix(): (key: string) => boolean {
  const prefixedAt = useRef(0);
  return (key) => {
    const isPrefixed = Date.now() - prefixedAt.current < prefixMs;
    prefixedAt.current = key === "g" ? Date.now() : 0;
    return isPrefixed;
  };
}

/** Whether a key is input for a field or a dialog. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null
  );
}
