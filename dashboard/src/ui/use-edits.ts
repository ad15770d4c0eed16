import { useState } from "react";

interface Edits<Fields> {
  /** The saved values with the edits. */
  fields: Fields;
  isChanged: boolean;
  change: (fields: Partial<Fields>) => void;
  /** Ends the edits that were there when the save began. `stored`: the values that the service answered with. */
  settle: (stored: Fields) => void;
}

/** The edits of a form. Without edits it follows the saved values. */
export function useEdits<Fields extends object>(saved: Fields): Edits<Fields> {
  const [edited, setEdited] = useState<Fields | null>(null);
  const isChanged = edited !== null && JSON.stringify(edited) !== JSON.stringify(saved);
  if (edited !== null && !isChanged) setEdited(null);
  return {
    fields: edited ?? saved,
    isChanged,
    change: (fields) => setEdited((now) => ({ ...(now ?? saved), ...fields })),
    settle: (stored) => setEdited((now) => (now === edited ? stored : now)),
  };
}
