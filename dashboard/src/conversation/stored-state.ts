import { useState } from "react";
import { inWorkspace } from "../api/client.ts";

/** State that outlives a reload of this tab, under a name of its own in the workspace. */
export function useStoredState<Value>(nameThere: string, initial: Value): [Value, (next: Value) => void] {
  const name = inWorkspace(nameThere);
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
