import type { Key } from "node:readline";
import type { InputHistory } from "./input-history.ts";
import type { LineEditor, Motion } from "./line-editor.ts";

/** The keys of readline and Emacs that move the cursor. */
const moves: Record<Motion, string> = {
  left: "left ctrl-b",
  right: "right ctrl-f",
  wordLeft: "ctrl-left meta-left meta-b",
  wordRight: "ctrl-right meta-right meta-f",
  home: "home ctrl-a",
  end: "end ctrl-e",
};

/** The keys that erase up to where a motion leads. */
const erasures: Partial<typeof moves> = {
  left: "backspace ctrl-h",
  right: "delete ctrl-d",
  wordLeft: "ctrl-w meta-backspace",
  home: "ctrl-u",
  end: "ctrl-k",
};

/** The key with its modifiers, such as `ctrl-left`. */
export function chordOf({ ctrl, meta, name }: Key): string {
  return `${ctrl ? "ctrl-" : ""}${meta ? "meta-" : ""}${name}`;
}

/** Does what a key does to the text; a key without a meaning adds its character. */
export function edit(editor: LineEditor, history: InputHistory, key: Key, text: string): void {
  const chord = chordOf(key);
  const motionOf = (keys: typeof erasures) =>
    (Object.keys(keys) as Motion[]).find((motion) => keys[motion]!.split(" ").includes(chord));
  const [move, erasure] = [motionOf(moves), motionOf(erasures)];
  if (move) editor.move(move);
  else if (erasure) editor.erase(erasure);
  else if (chord === "up" || chord === "ctrl-p") editor.up() || recall(editor, history.older(editor.text));
  else if (chord === "down" || chord === "ctrl-n") editor.down() || recall(editor, history.newer());
  // `enter`: Ctrl-J, and the code for Shift-Enter on terminals that distinguish it from Enter.
  else if (chord === "meta-return" || chord === "enter") editor.insert("\n");
  else if (!key.ctrl && !key.meta && text !== "" && !/\p{Cc}/u.test(text)) editor.insert(text);
}

function recall(editor: LineEditor, message: string | null): void {
  if (message !== null) editor.set(message);
}
