import { indentWithTab } from "@codemirror/commands";
import { LanguageDescription } from "@codemirror/language";
import { languages } from "@codemirror/language-data";
import { openSearchPanel, search } from "@codemirror/search";
import { Compartment, EditorState, type Extension, type Text } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { withConstructedStyles } from "../agent/constructed-styles.ts";
import { look } from "./editor-look.ts";
import { lineBreakOf } from "./text.ts";

/** The editor's own words, as the dashboard writes them. */
const phrases = {
  next: "Next",
  previous: "Previous",
  all: "All",
  replace: "Replace",
  "replace all": "Replace all",
  "match case": "Match case",
  regexp: "Regular expression",
  "by word": "Whole words",
};

export interface EditorOptions {
  /** The name of the file, which decides on the language. */
  name: string;
  text: string;
  isReadOnly: boolean;
  wraps: boolean;
  /** Called when the text begins or ceases to differ from the saved one. */
  onChanged: (isChanged: boolean) => void;
}

/** An editor of one file. It keeps the line breaks and the byte order mark of the file. */
export class CodeEditor {
  readonly #view: EditorView;
  readonly #wrapping = new Compartment();
  readonly #language = new Compartment();
  readonly #comparison = new Compartment();
  readonly #onChanged: (isChanged: boolean) => void;
  #saved: Text;
  #isChanged = false;

  constructor(parent: HTMLElement, { name, text, isReadOnly, wraps, onChanged }: EditorOptions) {
    this.#onChanged = onChanged;
    const extensions: Extension[] = [
      basicSetup,
      search({ top: true }),
      keymap.of([indentWithTab]),
      look,
      EditorState.phrases.of(phrases),
      EditorState.lineSeparator.of(lineBreakOf(text)),
      EditorView.contentAttributes.of({ "aria-label": `Content of ${name}`, tabindex: "0" }),
      EditorView.updateListener.of(({ docChanged }) => docChanged && this.#compareWithSaved()),
      isReadOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false)] : [],
      this.#wrapping.of(wrapping(wraps)),
      this.#language.of([]),
      this.#comparison.of([]),
    ];
    const state = EditorState.create({ doc: text, extensions });
    this.#saved = state.doc;
    let view: EditorView | undefined;
    withConstructedStyles(() => {
      view = new EditorView({ state, parent });
    });
    this.#view = view!;
    void this.#loadLanguage(name);
  }

  get text(): string {
    return this.#view.state.sliceDoc();
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** The file has this text now. Later typing stays a change. */
  markSaved(text: string): void {
    this.#saved = this.#view.state.toText(text);
    this.#compareWithSaved();
  }

  /** Shows the text of the file in place of the edited one. The cursor stays where the texts are alike. */
  replace(text: string): void {
    const { doc } = this.#view.state;
    const next = this.#view.state.toText(text);
    this.#saved = next;
    const [before, after] = [doc.toString(), next.toString()];
    let start = 0;
    while (start < before.length && before[start] === after[start]) start += 1;
    let end = 0;
    const most = Math.min(before.length, after.length) - start;
    while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
    const insert = next.slice(start, next.length - end);
    this.#view.dispatch({ changes: { from: start, to: doc.length - end, insert } });
    this.#compareWithSaved();
  }

  wrap(wraps: boolean): void {
    this.#view.dispatch({ effects: this.#wrapping.reconfigure(wrapping(wraps)) });
  }

  find(): void {
    openSearchPanel(this.#view);
  }

  focus(): void {
    this.#view.focus();
  }

  /** Shows the differences from another text, with a button that takes each one over. Null hides them. */
  async compare(other: string | null): Promise<void> {
    if (other === null) {
      this.#view.dispatch({ effects: this.#comparison.reconfigure([]) });
      return;
    }
    const { unifiedMergeView } = await import("@codemirror/merge");
    const original = this.#view.state.toText(other);
    const comparison = unifiedMergeView({ original, mergeControls: true, gutter: false });
    this.#view.dispatch({ effects: this.#comparison.reconfigure(comparison) });
  }

  destroy(): void {
    this.#view.destroy();
  }

  #compareWithSaved(): void {
    const isChanged = !this.#view.state.doc.eq(this.#saved);
    if (isChanged === this.#isChanged) return;
    this.#isChanged = isChanged;
    this.#onChanged(isChanged);
  }

  async #loadLanguage(name: string): Promise<void> {
    // A script without the chunk of its language is shown as plain text.
    const support = await LanguageDescription.matchFilename(languages, name)
      ?.load()
      .catch(() => null);
    if (support) this.#view.dispatch({ effects: this.#language.reconfigure(support) });
  }
}

function wrapping(wraps: boolean): Extension {
  return wraps ? EditorView.lineWrapping : [];
}
