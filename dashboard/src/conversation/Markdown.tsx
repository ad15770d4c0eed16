import { createCodePlugin } from "@streamdown/code";
import { memo, type ReactNode } from "react";
import { Streamdown } from "streamdown";

const plugins = { code: createCodePlugin({ themes: ["github-light", "github-dark"] }) };
const controls = { code: { copy: true, download: false }, table: { copy: true, download: false, fullscreen: false } };
/** Pictures would be requests to other hosts; the browser's policy refuses them. A link says where it leads. */
const components = {
  img: ({ alt, src }: { alt?: string | undefined; src?: unknown }) => (
    <span className="text-muted">
      [{alt || "picture"}: {String(src ?? "")}]
    </span>
  ),
  a: ({ href, children }: { href?: string | undefined; children?: ReactNode }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
};

/** An agent's words. They are hostile: nothing in them is HTML or runs. */
export const Markdown = memo(function Markdown({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  return (
    <Streamdown
      className="prose min-w-0 wrap-anywhere"
      mode={isStreaming ? "streaming" : "static"}
      skipHtml
      plugins={plugins}
      controls={controls}
      components={components}
      isAnimating={isStreaming}
    >
      {text}
    </Streamdown>
  );
});
