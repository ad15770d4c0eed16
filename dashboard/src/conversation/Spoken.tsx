import type { Turn } from "@berth/client";
import { useEffect, useState } from "react";
import { useLiveTurn } from "./live-turns.ts";
import { plainOf } from "./plain.ts";
import { endOfSentences } from "./sentences.ts";
import { isOver, type Part } from "./turn-state.ts";

/** More than a screen reader has yet to say. */
const mostKept = 20;

interface Said {
  /** How much of the reply has been passed on, in characters. */
  end: number;
  sentences: readonly { at: number; text: string }[];
}

/** Gives screen readers the reply of the newest turn that has run here, sentence by sentence as it arrives. */
export function Spoken({ agent, running }: { agent: string; running: Turn | undefined }) {
  const [last, setLast] = useState(running);
  if (running !== undefined && running.id !== last?.id) setLast(running);
  return (
    <div aria-live="polite" className="sr-only">
      {last !== undefined && <Sentences key={last.id} agent={agent} turn={last} />}
    </div>
  );
}

function Sentences({ agent, turn }: { agent: string; turn: Turn }) {
  const { state } = useLiveTurn(agent, turn, true);
  const text = textOf(state.parts);
  const hasEnded = isOver(state.phase);
  // Text that was there before is read like the rest of the page.
  const [said, setSaid] = useState<Said>(() => ({ end: text.length, sentences: [] }));
  useEffect(() => {
    setSaid((before) => {
      const end = hasEnded ? text.length : endOfSentences(text, before.end);
      if (end <= before.end) return before;
      const next = { at: before.end, text: plainOf(text.slice(before.end, end)) };
      return { end, sentences: [...before.sentences, next].slice(-mostKept) };
    });
  }, [text, hasEnded]);
  return said.sentences.map(({ at, text: sentence }) => <p key={at}>{sentence}</p>);
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}
