// Fails on words and sentences that a reader has to decode, in strings, templates, JSX and comments of the product, and in
// the names and comments of tests. Text in Markdown is checked by scripts/check.

import { globSync, readFileSync } from "node:fs";
import ts from "typescript";

const sources = ["src", "packages", "dashboard/src", "image", "scripts", "bench", "test"];

/** Each pattern with replacements. */
const rules: [pattern: RegExp, instead: string][] = [
  [/\btold\b/i, "reported, logged, returned"],
  [/\bnobody's\b/i, "unowned, unassigned, orphaned"],
  [/\b(?:lets?|letting) go of\b/i, "release"],
  [/\b(?:goes|go|going|went|gone) on\b/i, "continue, resume"],
  [/\banew\b/i, "again, recreate"],
  [/\bbesides?\b/i, "next to, in addition to"],
  [/\bby itself\b/i, "automatically, alone"],
  [/\b(?:of which|whereof|for want of)\b/i, "two sentences"],
  [/(?:^|[.:;!?] )(?:What|Whatever|Who|Whoever|Whom|Whose) [^.?!:;]*[.:;]/, "the thing's name as the subject"],
];

const isSource = (path: string) => !/node_modules|\/generated\/|\/dist\//.test(path);
/** Its strings are mostly data, but for the names of its tests. */
const isTest = (path: string) => /\.test\.tsx?$|^test\//.test(path);
const paths = sources.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`)).filter(isSource);
for (const path of paths.filter((each) => each !== "scripts/words.ts")) {
  for (const { text, line } of textsOf(path)) {
    for (const [pattern, instead] of rules) {
      const found = pattern.exec(text);
      if (!found) continue;
      console.error(`${path}:${line}: "${found[0].trim()}": write ${instead}`);
      process.exitCode = 1;
    }
  }
}

/** A file's texts for people, each on one line, with the line that it begins in. */
function textsOf(path: string): { text: string; line: number }[] {
  const source = readFileSync(path, "utf8");
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const texts: { text: string; line: number }[] = [];
  const isText = isTest(path) ? isTestName : () => true;
  const add = (start: number, text: string) =>
    texts.push({ text: text.replace(/\s+/g, " ").trim(), line: file.getLineAndCharacterOfPosition(start).line + 1 });
  const comments = new Map<number, number>();
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) return void add(node.pos, node.text);
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      if (isText(node)) add(node.getStart(file), node.text);
    }
    const ranges = [
      ...(ts.getLeadingCommentRanges(source, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.end) ?? []),
    ];
    for (const { pos, end } of ranges) comments.set(pos, end);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  // Lines of `//` that follow each other are one text.
  let [from, to] = [0, 0];
  for (const [pos, end] of [...comments].sort(([a], [b]) => a - b)) {
    const continues = source.startsWith("//", pos) && /^\n[ \t]*$/.test(source.slice(to, pos));
    if (!continues && to > from) add(from, plain(source.slice(from, to)));
    if (!continues) from = pos;
    to = end;
  }
  if (to > from) add(from, plain(source.slice(from, to)));
  return texts;
}

/** Whether a string is the first argument of `test`, `describe`, `test.each(…)` and the like. */
function isTestName(node: ts.Node): boolean {
  const { parent } = node;
  if (!ts.isCallExpression(parent) || parent.arguments[0] !== node) return false;
  return /^(?:test|it|describe)\b/.test(parent.expression.getText());
}

/** A comment's text without its marks. */
function plain(comment: string): string {
  return comment.replace(/^\s*(?:\/\/|\/\*+|\*(?!\/))/gm, "").replace(/\*\/$/, "");
}
