import { useEffect, useRef, useState } from "react";
import type { CustomRendererProps } from "streamdown";
import { CopyButton } from "../ui/CopyButton.tsx";
import { type Drawing, type Report, reportIn } from "./messages.ts";
import { useIsDark } from "./use-is-dark.ts";

/** In pixels. A taller diagram is scrolled. */
const maximumHeight = 640;
const firstHeight = 160;
/** From the page's load to the diagram, in milliseconds. */
const drawingMs = 15_000;

/** A diagram of an agent in Mermaid's language. It is drawn once it is whole. */
export function Diagram({ code, isIncomplete }: CustomRendererProps) {
  const text = code.trim();
  if (isIncomplete) return <Source text={text} isOpen />;
  return <WholeDiagram key={text} text={text} />;
}

function WholeDiagram({ text }: { text: string }) {
  const [failure, setFailure] = useState<string | null>(null);
  return (
    <figure className="my-4 grid gap-2 rounded-lg border bg-surface p-3">
      {failure === null ? (
        <Frame text={text} onFailure={setFailure} />
      ) : (
        <p className="text-sm text-muted">This diagram can't be drawn: {failure}</p>
      )}
      <Source text={text} isOpen={failure !== null} />
    </figure>
  );
}

function Source({ text, isOpen }: { text: string; isOpen: boolean }) {
  return (
    <details className="text-sm" open={isOpen}>
      <summary className="cursor-pointer text-muted">Source of the diagram</summary>
      <div className="mt-2 flex items-start gap-2">
        <pre className="min-w-0 flex-1 overflow-auto rounded-md bg-sunken p-3 font-mono text-[13px]" tabIndex={0}>
          {text}
        </pre>
        <CopyButton text={text} label="Copy the source" isSmall />
      </div>
    </details>
  );
}

/** Draws in a page without an origin, which has no access to the dashboard. */
function Frame({ text, onFailure }: { text: string; onFailure: (reason: string) => void }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const isDark = useIsDark();
  const [isReady, setReady] = useState(false);
  const [isLoaded, setLoaded] = useState(false);
  const [height, setHeight] = useState<number | null>(null);
  useEffect(() => {
    const take = ({ source, data }: MessageEvent) => {
      const report: Report | null = source === frame.current?.contentWindow ? reportIn(data) : null;
      if (report?.type === "ready") setReady(true);
      if (report?.type === "drawn") setHeight(Math.min(Math.max(report.height, 40), maximumHeight));
      if (report?.type === "failed") onFailure(report.reason);
    };
    window.addEventListener("message", take);
    return () => window.removeEventListener("message", take);
  }, [onFailure]);
  useEffect(() => {
    const drawing: Drawing = { text, isDark };
    if (isReady) frame.current?.contentWindow?.postMessage(drawing, "*");
  }, [isReady, text, isDark]);
  useEffect(() => {
    if (!isLoaded || height !== null) return;
    const timer = setTimeout(() => onFailure("it takes too long."), drawingMs);
    return () => clearTimeout(timer);
  }, [isLoaded, height, onFailure]);
  return (
    <iframe
      ref={frame}
      title="Diagram"
      src="/-/diagram.html"
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      loading="lazy"
      className="w-full border-0"
      onLoad={() => setLoaded(true)}
      style={{ height: height ?? firstHeight, colorScheme: isDark ? "dark" : "light" }}
    />
  );
}
