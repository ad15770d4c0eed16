import { useCallback, useState, useSyncExternalStore } from "react";
import { inWorkspace } from "../api/client.ts";

/**
 * State that outlives a reload of this tab, under a name of its own in the workspace. All components that use the name
 * show the same value. Where the browser's storage is full, it lasts until a reload.
 */
export function useStoredState<Value>(nameThere: string, initial: Value): [Value, (next: Value) => void] {
  const name = inWorkspace(nameThere);
  const [first] = useState(initial);
  const subscribe = useCallback((changed: () => void) => subscribeTo(name, changed), [name]);
  const value = useSyncExternalStore(subscribe, () => read(name, first));
  return [value, (next) => write(name, next)];
}

/** The values that were read or written, by name. */
const values = new Map<string, unknown>();
const readers = new Map<string, Set<() => void>>();

function read<Value>(name: string, initial: Value): Value {
  if (!values.has(name)) {
    const text = sessionStorage.getItem(name);
    if (text === null) return initial;
    values.set(name, JSON.parse(text));
  }
  return values.get(name) as Value;
}

function write(name: string, value: unknown): void {
  values.set(name, value);
  for (const changed of readers.get(name) ?? []) changed();
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    sessionStorage.removeItem(name);
  }
}

function subscribeTo(name: string, changed: () => void): () => void {
  const all = readers.get(name) ?? new Set();
  readers.set(name, all.add(changed));
  return () => all.delete(changed);
}
