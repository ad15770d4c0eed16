import { useState } from "react";
import { inWorkspace } from "../api/client.ts";
import { useStoredState } from "../ui/stored-state.ts";
import type { Line } from "./hunks.ts";
import { visible } from "./visible.ts";

/** A comment on a line that has not been sent. */
export interface Comment {
  /** The turn or the point of the changes. */
  source: string;
  file: string;
  side: "old" | "now";
  line: number;
  quote: string;
  text: string;
}

export type Place = Omit<Comment, "text">;

/** The longest quoted line, in characters. */
const quoteLength = 300;
export const maximumComments = 50;
export const maximumCommentLength = 2_000;

export function placeOf(source: string, file: string, { old, now, text }: Line): Place {
  const side = now === null ? "old" : "now";
  return { source, file, side, line: (now ?? old)!, quote: text.slice(0, quoteLength).toWellFormed() };
}

export function keyOf({ source, file, side, line }: Place): string {
  return JSON.stringify([source, file, side, line]);
}

export interface Comments {
  all: readonly Comment[];
  /** The one that is being written. */
  open: string | null;
  of: (place: Place) => Comment | undefined;
  /** Opens the comment at a place. */
  write: (place: Place) => void;
  change: (place: Place, text: string) => void;
  close: () => void;
  remove: (place: Place) => void;
  clear: () => void;
}

/** The comments on an agent's changes. They and what is being written survive a reload. */
export function useComments(agent: string): Comments {
  const [all, setAll] = useStoredState<readonly Comment[]>(`comments ${agent}`, []);
  const [open, setOpen] = useState<string | null>(() => all.map(keyOf).find((key) => key === openIn(agent)) ?? null);
  const show = (key: string | null) => {
    setOpen(key);
    if (key === null) sessionStorage.removeItem(openName(agent));
    else sessionStorage.setItem(openName(agent), key);
  };
  const without = (place: Place) => all.filter((each) => keyOf(each) !== keyOf(place));
  return {
    all,
    open,
    of: (place) => all.find((each) => keyOf(each) === keyOf(place)),
    write: (place) => {
      const written = all.filter(({ text, ...each }) => text.trim() !== "" || keyOf(each) === keyOf(place));
      const isNew = !written.some((each) => keyOf(each) === keyOf(place));
      if (isNew && written.length >= maximumComments) return;
      setAll(isNew ? [...written, { ...place, text: "" }] : written);
      show(keyOf(place));
    },
    change: (place, text) => setAll(all.map((each) => (keyOf(each) === keyOf(place) ? { ...each, text } : each))),
    close: () => {
      setAll(all.filter(({ text }) => text.trim() !== ""));
      show(null);
    },
    remove: (place) => {
      setAll(without(place));
      show(null);
    },
    clear: () => {
      setAll([]);
      show(null);
    },
  };
}

const openName = (agent: string) => inWorkspace(`open comment ${agent}`);

function openIn(agent: string): string | null {
  return sessionStorage.getItem(openName(agent));
}

/** The comments that have a text. */
export function writtenOf({ all }: Pick<Comments, "all">): Comment[] {
  return all.filter(({ text }) => text.trim() !== "");
}

/** The comments as one message, by file and line. */
export function messageOfComments(comments: readonly Comment[]): string {
  const sorted = comments.toSorted((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  const texts = sorted.map(({ file, side, line, quote, text }) => {
    const where = side === "old" ? `line ${line} before the change` : `line ${line}`;
    return `${visible(file)}, ${where}:\n> ${visible(quote)}\n${text.trim()}`;
  });
  return `Comments on changes in files:\n\n${texts.join("\n\n")}`;
}
