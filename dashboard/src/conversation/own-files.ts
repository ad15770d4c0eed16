/** A node of a Markdown tree, as far as addresses are concerned (https://github.com/syntax-tree/mdast). */
interface MarkdownNode {
  type: string;
  url?: string;
  children?: MarkdownNode[];
}

/** Stands before a path of the agent's machine in an address. No address of the web begins like it. */
const home = "/~home/";
const root = "/~root/";

/**
 * A remark plugin that marks links and pictures whose address is a path of the agent's machine: `plot.png`,
 * `./out/report.md`, `/home/agent/plot.png`. `pathIn` reads the path.
 */
export function ownFiles(): (tree: MarkdownNode) => void {
  return (tree) => {
    const left = [tree];
    for (let node = left.pop(); node; node = left.pop()) {
      if (node.url !== undefined && /^(link|image|definition)$/.test(node.type)) node.url = marked(node.url);
      left.push(...(node.children ?? []));
    }
  };
}

function marked(url: string): string {
  // A line's number may follow a path: `main.ts:12`.
  const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^[^/:]+\.\w+:\d+$/.test(url);
  if (url === "" || url.startsWith("#") || url.startsWith("//") || isAddress) return url;
  if (url.startsWith("/")) return root + url.replace(/^\/+/, "");
  return home + url.replace(/^~\/+|^(\.\/+)+/, "");
}

/** The path of a marked address; null: it is not one, or leads out of the agent's home folder. */
export function pathIn(url: string): string | null {
  const start = [home, root].find((each) => url.startsWith(each));
  if (start === undefined) return null;
  try {
    const path = decodeURIComponent(
      url
        .slice(start.length)
        .replace(/[?#].*$/, "")
        .replace(/(:\d+){1,2}$/, ""),
    );
    if (path === "" || path.includes("\0") || path.split("/").includes("..")) return null;
    return start === root ? `/${path}` : path;
  } catch {
    return null;
  }
}
