import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The colours of the dashboard, which follow its theme. */
const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--color-ink)", backgroundColor: "var(--color-surface)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.55", overflow: "auto" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { caretColor: "var(--color-ink)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--color-ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "light-dark(#b9d3ff, #2b4a80)",
  },
  ".cm-gutters": {
    color: "var(--color-muted)",
    backgroundColor: "var(--color-surface)",
    borderRight: "1px solid var(--color-line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(#f1f3f599, #1a1e2599)" },
  ".cm-activeLineGutter": { color: "var(--color-ink)" },
  ".cm-foldPlaceholder": {
    color: "var(--color-muted)",
    background: "var(--color-sunken)",
    border: "0",
    padding: "0 4px",
  },
  ".cm-panels": { color: "var(--color-ink)", backgroundColor: "var(--color-raised)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--color-line)" },
  ".cm-panel.cm-search": { padding: "8px 40px 8px 8px", fontFamily: "var(--font-sans)", fontSize: "13px" },
  ".cm-panel.cm-search label": { fontSize: "13px" },
  ".cm-panel.cm-search [name=close]": { fontSize: "20px", top: "4px", right: "8px", width: "28px", height: "28px" },
  ".cm-textfield": {
    color: "var(--color-ink)",
    backgroundColor: "var(--color-surface)",
    border: "1px solid var(--color-line-strong)",
    borderRadius: "6px",
    padding: "3px 6px",
    fontSize: "13px",
  },
  ".cm-button": {
    color: "var(--color-ink)",
    background: "var(--color-surface)",
    border: "1px solid var(--color-line)",
    borderRadius: "6px",
    fontSize: "13px",
    padding: "3px 8px",
  },
  ".cm-searchMatch": { backgroundColor: "light-dark(#fbe39a, #5c4a12)" },
  ".cm-searchMatch.cm-searchMatch-selected": { backgroundColor: "light-dark(#ffc46b, #8a5f00)" },
  ".cm-selectionMatch": { backgroundColor: "light-dark(#e3ecd8, #2c3a24)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "light-dark(#d3ead8, #24462f)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--color-bad-soft)" },
  ".cm-specialChar": { color: "var(--color-bad)" },
  ".cm-tooltip": {
    color: "var(--color-ink)",
    backgroundColor: "var(--color-raised)",
    border: "1px solid var(--color-line)",
    borderRadius: "8px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    color: "var(--color-ink)",
    background: "var(--color-accent-soft)",
  },
  ".cm-changedLine": { backgroundColor: "var(--color-good-soft) !important" },
  ".cm-deletedChunk": { backgroundColor: "var(--color-bad-soft) !important" },
  ".cm-changedText, .cm-deletedText": { background: "light-dark(#14171c22, #eceef133) !important" },
  ".cm-deletedChunk .cm-chunkButtons button": {
    borderRadius: "6px",
    padding: "2px 8px",
    fontFamily: "var(--font-sans)",
  },
});

/** The colours of code in conversations: GitHub's. */
const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "light-dark(#b3202b, #ff7b72)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "light-dark(#0a3069, #a5d6ff)" },
  { tag: [tags.comment, tags.meta], color: "light-dark(#57606a, #9198a1)" },
  {
    tag: [tags.number, tags.bool, tags.null, tags.atom, tags.constant(tags.name)],
    color: "light-dark(#0550ae, #79c0ff)",
  },
  {
    tag: [tags.function(tags.variableName), tags.definition(tags.function(tags.variableName))],
    color: "light-dark(#6f3ac0, #d2a8ff)",
  },
  { tag: [tags.typeName, tags.className, tags.namespace], color: "light-dark(#8a3c00, #ffa657)" },
  { tag: [tags.tagName, tags.heading], color: "light-dark(#116329, #7ee787)" },
  { tag: [tags.propertyName, tags.attributeName], color: "light-dark(#0550ae, #79c0ff)" },
  { tag: tags.heading, fontWeight: "650" },
  { tag: tags.strong, fontWeight: "650" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "light-dark(#0550ae, #79c0ff)" },
  { tag: tags.invalid, color: "var(--color-bad)" },
]);

/** The look of an editor. */
export const look: Extension = [theme, syntaxHighlighting(highlighting)];
