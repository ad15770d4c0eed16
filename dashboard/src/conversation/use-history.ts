import { type KeyboardEvent, useState } from "react";

/**
 * The messages of before, which the arrow keys bring into an empty field, as in a shell. `sent` has the newest last. A text
 * that was changed is not replaced.
 */
export function useHistory(sent: readonly string[], text: string, onText: (text: string) => void) {
  const [back, setBack] = useState(0);
  const shown = back === 0 ? "" : sent.at(-back);
  /** Returns whether the key was one for the history. */
  return (event: KeyboardEvent): boolean => {
    const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (step === 0 || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    const from = text === shown ? back : text === "" ? 0 : null;
    if (from === null) return false;
    const next = from + step;
    if (next < 0 || next > sent.length) return false;
    setBack(next);
    onText(next === 0 ? "" : sent.at(-next)!);
    return true;
  };
}
