import type { Key } from "node:readline";
import type { InputHistory } from "./input-history.ts";
import type { LineEditor } from "./line-editor.ts";

type Action = (editor: LineEditor, history: InputHistory) => void;

const actions: Readonly<Record<string, Action>> = {
  left: (editor) => editor.left(),
  "ctrl-b": (editor) => editor.left(),
  right: (editor) => editor.right(),
  "ctrl-f": (editor) => editor.right(),
  "ctrl-left": (editor) => editor.wordLeft(),
  "meta-b": (editor) => editor.wordLeft(),
  "meta-left": (editor) => editor.wordLeft(),
  "ctrl-right": (editor) => editor.wordRight(),
  "meta-f": (editor) => editor.wordRight(),
  "meta-right": (editor) => editor.wordRight(),
  home: (editor) => editor.home(),
  "ctrl-a": (editor) => editor.home(),
  end: (editor) => editor.end(),
  "ctrl-e": (editor) => editor.end(),
  backspace: (editor) => editor.backspace(),
  "ctrl-h": (editor) => editor.backspace(),
  delete: (editor) => editor.delete(),
  "ctrl-d": (editor) => editor.delete(),
  "ctrl-w": (editor) => editor.deleteWord(),
  "meta-backspace": (editor) => editor.deleteWord(),
  "ctrl-u": (editor) => editor.deleteToLineStart(),
  "ctrl-k": (editor) => editor.deleteToLineEnd(),
  "meta-return": (editor) => editor.insert("\n"),
  // Ctrl-J, and the code for Shift-Enter on terminals that distinguish it from Enter.
  enter: (editor) => editor.insert("\n"),
  up: older,
  "ctrl-p": older,
  down: newer,
  "ctrl-n": newer,
};

/** Does what a key does to the text; a key without a meaning adds its character. */
export function edit(editor: LineEditor, history: InputHistory, key: Key, text: string): void {
  const modifiers = `${key.ctrl ? "ctrl-" : ""}${key.meta ? "meta-" : ""}`;
  const action = actions[`${modifiers}${key.name}`];
  if (action) action(editor, history);
  else if (!key.ctrl && !key.meta && text !== "" && !/\p{Cc}/u.test(text)) editor.insert(text);
}

function older(editor: LineEditor, history: InputHistory): void {
  if (editor.up()) return;
  const message = history.older(editor.text);
  if (message !== null) editor.set(message);
}

function newer(editor: LineEditor, history: InputHistory): void {
  if (editor.down()) return;
  const message = history.newer();
  if (message !== null) editor.set(message);
}
