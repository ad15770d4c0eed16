import { useRef } from "react";
import { useStoredState } from "../ui/stored-state.ts";

export interface InstructionsDraft {
  /** The draft, or else the saved text. */
  text: string;
  isChanged: boolean;
  write: (text: string) => void;
  discard: () => void;
  /** Ends the draft that was there when the save began. */
  settle: () => void;
}

/** The draft of an agent's instructions. It outlives the page, in this tab. Without `agent`: a new agent's. */
export function useInstructionsDraft(agent: string | null, saved: string): InstructionsDraft {
  const [draft, setDraft] = useStoredState<string | null>(
    agent === null ? "instructions" : `instructions ${agent}`,
    null,
  );
  const latest = useRef(draft);
  const write = (text: string | null) => {
    latest.current = text;
    setDraft(text);
  };
  return {
    text: draft ?? saved,
    isChanged: draft !== null && draft !== saved,
    write: (text) => write(text === saved ? null : text),
    discard: () => write(null),
    settle: () => {
      if (latest.current === draft) write(null);
    },
  };
}
