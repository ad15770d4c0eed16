import { createCodePlugin } from "@streamdown/code";
import { memo, type ReactNode, useEffect, useMemo, useState } from "react";
import { defaultRemarkPlugins, type MathPlugin, Streamdown } from "streamdown";
import { Diagram } from "../diagrams/Diagram.tsx";
import { htmlAsText } from "./html-as-text.ts";
import { OwnFile, OwnPicture } from "./OwnFile.tsx";
import { ownFiles, pathIn } from "./own-files.ts";

const code = createCodePlugin({ themes: ["github-light", "github-dark"] });
/** The beginnings of maths. */
const mathsBegin = /\$\$|\\[([]|^```math/m;
let loadedMaths: MathPlugin | null = null;
const renderers = [{ language: "mermaid", component: Diagram }];
const remarkPlugins = [...Object.values(defaultRemarkPlugins), htmlAsText, ownFiles];
const controls = {
  code: { copy: true, download: false },
  // A table is copied as HTML, too. Pages over plain HTTP cannot.
  table: { copy: "ClipboardItem" in window, download: false, fullscreen: false },
};
/** Pictures of the web would be requests to other hosts; the browser's policy refuses them. Those of the agent are shown. */
const components = {
  img: ({ alt, src }: { alt?: string | undefined; src?: unknown }) => {
    const path = pathIn(String(src ?? ""));
    if (path !== null) return <OwnPicture path={path} alt={alt ?? ""} />;
    return (
      <span className="text-muted">
        [{alt || "picture"}: {String(src ?? "")}]
      </span>
    );
  },
  a: ({ href = "", children }: { href?: string | undefined; children?: ReactNode }) => {
    const path = pathIn(href);
    if (path !== null) return <OwnFile path={path}>{children}</OwnFile>;
    return (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    );
  },
};

/** An agent's words. They are hostile: HTML in them is shown as it was written, and never rendered. */
export const Markdown = memo(function Markdown({ text, isStreaming }: { text: string; isStreaming: boolean }) {
  const math = useMaths(text);
  const plugins = useMemo(() => ({ code, renderers, ...(math && { math }) }), [math]);
  return (
    <Streamdown
      className="prose min-w-0 wrap-anywhere"
      mode={isStreaming ? "streaming" : "static"}
      remarkPlugins={remarkPlugins}
      tableMaxHeight={0}
      plugins={plugins}
      controls={controls}
      components={components}
      isAnimating={isStreaming}
    >
      {text}
    </Streamdown>
  );
});

/** The plugin for maths, once a text needs it and it is there. Without it, the text is shown as it was written. */
function useMaths(text: string): MathPlugin | null {
  const [maths, setMaths] = useState(loadedMaths);
  const isNeeded = maths === null && mathsBegin.test(text);
  useEffect(() => {
    if (!isNeeded) return;
    import("./maths.ts").then(
      (module) => {
        loadedMaths = module.maths;
        setMaths(module.maths);
      },
      () => {},
    );
  }, [isNeeded]);
  return maths;
}
