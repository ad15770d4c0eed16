import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "./Button.tsx";
import { ManualCopy } from "./ManualCopy.tsx";

/** Copies a text, and says so. Where the page may not copy, it shows the text for the person to copy. */
export function CopyButton({
  text,
  label = "Copy",
  isSmall = false,
}: {
  text: string;
  label?: string;
  isSmall?: boolean;
}) {
  const [isCopied, setCopied] = useState(false);
  const [isManual, setManual] = useState(false);
  const end = (hasCopied: boolean) => {
    setManual(false);
    setCopied(hasCopied);
    if (hasCopied) setTimeout(() => setCopied(false), 2_000);
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      end(true);
    } catch {
      setManual(true);
    }
  };
  const Icon = isCopied ? Check : Copy;
  return (
    <>
      <Button kind={isSmall ? "quiet" : "plain"} onClick={() => void copy()} aria-label={isCopied ? "Copied" : label}>
        <Icon className="size-4" aria-hidden />
        {!isSmall && (isCopied ? "Copied" : label)}
      </Button>
      {isManual && <ManualCopy text={text} onEnd={end} />}
    </>
  );
}

/** A text that is shown once: a key, a link. */
export function Once({ text, label }: { text: string; label: string }) {
  return (
    <div className="flex items-center gap-2 rounded-lg border bg-sunken py-1 pr-1 pl-3">
      <code className="min-w-0 flex-1 font-mono text-[13px] break-all" data-testid="once">
        {text}
      </code>
      <CopyButton text={text} label={label} isSmall />
    </div>
  );
}
