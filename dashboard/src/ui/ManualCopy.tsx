import { useSyncExternalStore } from "react";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { TextArea } from "./Field.tsx";

const keys = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘C" : "Ctrl-C";

/** A text for the person to copy, where the page may not: browsers allow it to pages over HTTPS and on localhost only. */
export function ManualCopy({ text, onEnd }: { text: string; onEnd: (isCopied: boolean) => void }) {
  return (
    <Dialog
      isOpen
      onClose={() => onEnd(false)}
      title={`Press ${keys}`}
      description="This browser does not let the page copy. The text is selected."
    >
      <TextArea
        aria-label="Text to copy"
        readOnly
        rows={Math.min(12, text.split("\n").length + 1)}
        value={text}
        className="font-mono text-[13px] break-all"
        onFocus={({ target }) => target.select()}
        onCopy={() => setTimeout(() => onEnd(true))}
      />
      <div className="flex justify-end">
        <Button onClick={() => onEnd(false)}>Close</Button>
      </div>
    </Dialog>
  );
}

let asked: { text: string; end: (isCopied: boolean) => void } | null = null;
const listeners = new Set<() => void>();

function ask(next: typeof asked): void {
  asked = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Gives a page without `navigator.clipboard` one for the copy buttons of libraries. `CopyFallback` shows its texts. */
export function installClipboard(): void {
  if ("clipboard" in navigator) return;
  const writeText = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const end = (isCopied: boolean) => {
        ask(null);
        if (isCopied) resolve();
        else reject(new Error("The text was not copied."));
      };
      ask({ text, end });
    });
  Object.defineProperty(navigator, "clipboard", { value: { writeText } });
}

/** The text that a button of a library asks to copy. */
export function CopyFallback() {
  const now = useSyncExternalStore(subscribe, () => asked);
  return now && <ManualCopy text={now.text} onEnd={now.end} />;
}
