/** A node of a Markdown tree, as far as HTML is concerned (https://github.com/syntax-tree/mdast). */
interface MarkdownNode {
  type: string;
  value?: string;
  children?: MarkdownNode[];
}

/** The parents whose children are blocks: HTML among those becomes a paragraph. */
const ofBlocks = new Set(["root", "blockquote", "listItem", "footnoteDefinition"]);

/** A remark plugin that shows HTML as it was written, such as `Promise<string>` or `<Foo />`, instead of dropping it. */
export function htmlAsText(): (tree: MarkdownNode) => void {
  return (tree) => {
    // Without recursion: an agent may nest quotes thousands deep.
    const left = [tree];
    for (let node = left.pop(); node; node = left.pop()) {
      if (!node.children) continue;
      const isOfBlocks = ofBlocks.has(node.type);
      node.children = node.children.map((child) => (child.type === "html" ? textOf(child, isOfBlocks) : child));
      for (const child of node.children) left.push(child);
    }
  };
}

function textOf({ value = "" }: MarkdownNode, isBlock: boolean): MarkdownNode {
  const text = { type: "text", value };
  return isBlock ? { type: "paragraph", children: [text] } : text;
}
