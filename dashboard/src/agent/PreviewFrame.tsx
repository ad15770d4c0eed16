import { Link } from "@tanstack/react-router";
import { ChevronLeft, ExternalLink, Monitor, RotateCw, Smartphone, Tablet } from "lucide-react";
import { useEffect, useState } from "react";
import { berth } from "../api/client.ts";
import { Button } from "../ui/Button.tsx";
import { Failure } from "../ui/Failure.tsx";
import { Loading } from "../ui/Notice.tsx";
import { useAction } from "../ui/use-action.ts";
import { openPreview } from "./open-preview.ts";

/** Widths in pixels; null: all of the view. */
const devices = [
  { name: "Desktop", width: null, icon: Monitor },
  { name: "Tablet", width: 768, icon: Tablet },
  { name: "Phone", width: 390, icon: Smartphone },
] as const;

/**
 * A page that the agent serves, in a frame. It is at another origin, and cannot navigate the dashboard away. Each load
 * signs in with a new ticket.
 */
export function PreviewFrame({ name, port }: { name: string; port: number }) {
  const [device, setDevice] = useState<(typeof devices)[number]>(devices[0]);
  const [loads, setLoads] = useState(0);
  const { url, error } = usePreviewUrl(name, port, loads);
  const tab = useAction(() => openPreview(name, port));
  return (
    <section aria-label={`Preview of port ${port}`} className="flex min-h-96 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-1 border-b bg-surface px-3 py-1.5">
        <Link
          to="."
          search={(before: object) => ({ ...before, port: undefined })}
          className="tap mr-auto flex items-center gap-1 rounded px-1 text-sm text-muted hover:text-ink"
        >
          <ChevronLeft className="size-4" aria-hidden /> All ports
        </Link>
        {devices.map((each) => (
          <Button
            key={each.name}
            kind="quiet"
            aria-label={each.name}
            title={each.name}
            aria-pressed={each === device}
            className={each === device ? "bg-sunken !text-ink" : ""}
            onClick={() => setDevice(each)}
          >
            <each.icon className="size-4" aria-hidden />
          </Button>
        ))}
        <Button kind="quiet" aria-label="Reload the page" title="Reload" onClick={() => setLoads(loads + 1)}>
          <RotateCw className="size-4" aria-hidden />
        </Button>
        <Button kind="quiet" isBusy={tab.isBusy} onClick={() => tab.run()}>
          <ExternalLink className="size-4" aria-hidden /> Open in a tab
        </Button>
      </div>
      <Failure of={error ?? tab.error} />
      <div className="flex min-h-0 flex-1 justify-center overflow-auto bg-sunken">
        {url === null && error === null && <Loading />}
        {url !== null && (
          <iframe
            key={url}
            src={url}
            title={`Port ${port} of ${name}`}
            sandbox="allow-downloads allow-forms allow-modals allow-popups allow-same-origin allow-scripts"
            referrerPolicy="origin"
            className="h-full min-h-80 shrink-0 bg-white [color-scheme:light]"
            style={{ width: device.width ?? "100%" }}
          />
        )}
      </div>
    </section>
  );
}

/** The address of a preview, whose ticket is good once. */
function usePreviewUrl(name: string, port: number, loads: number): { url: string | null; error: unknown } {
  const [state, setState] = useState<{ url: string | null; error: unknown }>({ url: null, error: null });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each load needs a ticket of its own
  useEffect(() => {
    const abort = new AbortController();
    berth
      .agent(name)
      .ports.preview(port, { signal: abort.signal })
      .then(
        (url) => setState({ url, error: null }),
        (error: unknown) => abort.signal.aborted || setState({ url: null, error }),
      );
    return () => abort.abort();
  }, [name, port, loads]);
  return state;
}
