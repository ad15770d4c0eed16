import { useState } from "react";

/** State that outlives a reload of this tab, under a name of its own. */
export function useStoredState<Value>(name: string, initial: Value): [Value, (next: Value) => void] {
  const [value, setValue] = useState(() => read(name, initial));
  const set = (next: Value) => {
    setValue(next);
    sessionStorage.setItem(name, JSON.stringify(next));
  };
  return [value, set];
}

function read<Value>(name: string, initial: Value): Value {
  const text = sessionStorage.getItem(name);
  return text === null ? initial : (JSON.parse(text) as Value);
}
