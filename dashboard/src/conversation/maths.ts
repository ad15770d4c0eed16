import rehypeKatex from "rehype-katex";
import remarkMath from "remark-math";
import type { MathPlugin } from "streamdown";
import { texBrackets } from "./tex-brackets.ts";

// A file of its own, fetched for the first reply with maths.

/** A node of a Markdown tree, as far as maths is concerned (https://github.com/syntax-tree/mdast). */
interface MarkdownNode {
  type: string;
  value?: string;
  children?: MarkdownNode[];
  data?: object;
  position?: { start: { offset: number }; end: { offset: number } };
}

interface Processor {
  data: () => { micromarkExtensions?: unknown[] };
}

/** Maths between two dollars, between `\(` and `\)`, or between `\[` and `\]`. One dollar is also money and shells. */
function texMaths(this: Processor) {
  remarkMath.call(this as never, { singleDollarTextMath: false });
  this.data().micromarkExtensions!.push(texBrackets);
  return (tree: MarkdownNode, file: { toString: () => string }) => {
    const source = String(file);
    // Without recursion: an agent may nest quotes thousands deep.
    const left = [tree];
    for (let node = left.pop(); node; node = left.pop()) {
      const { type, children = [] } = node;
      const isAlone = type === "paragraph" && children.length === 1;
      for (const child of children) {
        left.push(child);
        if (child.type !== "inlineMath") continue;
        const written = source.slice(child.position?.start.offset, child.position?.end.offset);
        if (written.startsWith("\\[") || (isAlone && written.startsWith("$$"))) child.data = displayed(child.value);
      }
    }
  };
}

/** On a line of its own. */
function displayed(tex = "") {
  const properties = { className: ["language-math"] };
  const code = { type: "element", tagName: "code", properties, children: [{ type: "text", value: tex }] };
  return { hName: "pre", hChildren: [code] };
}

/** KaTeX's HTML has inline styles, which the page's policy forbids. Browsers draw MathML. */
const options = { output: "mathml", strict: "ignore", errorColor: "inherit", maxSize: 20 };

export const maths: MathPlugin = {
  name: "katex",
  type: "math",
  remarkPlugin: texMaths as MathPlugin["remarkPlugin"],
  rehypePlugin: [rehypeKatex, options],
};
