import { useEffect, useEffectEvent, useState, useSyncExternalStore } from "react";
import { isTyping, usePrefix } from "../shell/shortcuts.ts";

/** A key that is pressed as a question appears, or right after the one before, was meant for something else. In milliseconds. */
const unseenMs = 700;

/** The ids of the open questions of the page, those that appeared first at the front. Keys answer the first. */
class OpenQuestions {
  #ids: readonly string[] = [];
  readonly #readers = new Set<() => void>();

  get first(): string | undefined {
    return this.#ids[0];
  }

  subscribe = (changed: () => void): (() => void) => {
    this.#readers.add(changed);
    return () => this.#readers.delete(changed);
  };

  /** Returns how to remove it. */
  add(id: string): () => void {
    this.#set([...this.#ids, id]);
    return () => this.#set(this.#ids.filter((each) => each !== id));
  }

  #set(ids: readonly string[]): void {
    this.#ids = ids;
    for (const changed of this.#readers) changed();
  }
}

const questions = new OpenQuestions();

/**
 * Answers a question by the keys `a` and `d`. `answer`: null if it cannot be answered, or not by keys. Returns whether the
 * keys are this question's now.
 */
export function useAnswerKeys(id: string, answer: ((decision: "allow" | "deny") => void) | null): boolean {
  const follows = usePrefix();
  const isOpen = answer !== null;
  const isFirst = useSyncExternalStore(questions.subscribe, () => questions.first === id);
  const [isReady, setReady] = useState(false);
  useEffect(() => (isOpen ? questions.add(id) : undefined), [id, isOpen]);
  useEffect(() => {
    if (!isFirst) return;
    const timer = setTimeout(() => setReady(true), unseenMs);
    return () => {
      clearTimeout(timer);
      setReady(false);
    };
  }, [isFirst]);
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { key, metaKey, ctrlKey, altKey, repeat, target } = event;
    if (metaKey || ctrlKey || altKey || repeat || isTyping(target) || follows(key)) return;
    if (!isReady || (key !== "a" && key !== "d")) return;
    event.preventDefault();
    answer?.(key === "a" ? "allow" : "deny");
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
  return isReady;
}
