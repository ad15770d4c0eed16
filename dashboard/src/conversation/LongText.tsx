import { ChevronLeft, ChevronRight } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { PlainMarkdown } from "./PlainMarkdown.tsx";
import { PlainOnFailure } from "./PlainOnFailure.tsx";
import { TextPages } from "./text-pages.ts";

/** Asked for as soon as a conversation is, and not in its way. */
const markdown = import("./Markdown.tsx");
const Markdown = lazy(async () => ({ default: (await markdown).Markdown }));

interface TextProps {
  text: string;
  /** It is about to leave the page. */
  isPlain: boolean;
  isStreaming: boolean;
}

/** A reply's text. A very long one is shown in pages; the last page comes first and grows with the reply. */
export function LongText({ text, isPlain, isStreaming }: TextProps) {
  const pages = useMemo(() => new TextPages(), []);
  pages.take(text);
  const [chosen, setChosen] = useState<number | null>(null);
  const last = pages.count - 1;
  const at = Math.min(chosen ?? last, last);
  const page = pages.page(at);
  const pager = last > 0 && (
    <Pager at={at} count={pages.count} onChoose={(next) => setChosen(next >= last ? null : next)} />
  );
  return (
    <>
      {pager}
      {isPlain ? (
        <PlainMarkdown text={page} />
      ) : (
        <Suspense fallback={<PlainMarkdown text={page} />}>
          <PlainOnFailure text={page}>
            <Markdown key={at} text={page} isStreaming={isStreaming && at === last} />
          </PlainOnFailure>
        </Suspense>
      )}
      {pager}
    </>
  );
}

interface PagerProps {
  at: number;
  count: number;
  onChoose: (at: number) => void;
}

function Pager({ at, count, onChoose }: PagerProps) {
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-muted">
      <Button disabled={at === 0} onClick={() => onChoose(0)}>
        First page
      </Button>
      <Button aria-label="Previous page" disabled={at === 0} onClick={() => onChoose(at - 1)}>
        <ChevronLeft className="size-4" aria-hidden />
      </Button>
      <p className="tabular-nums">
        Page {at + 1} of {count} of this reply
      </p>
      <Button aria-label="Next page" disabled={at === count - 1} onClick={() => onChoose(at + 1)}>
        <ChevronRight className="size-4" aria-hidden />
      </Button>
      <Button disabled={at === count - 1} onClick={() => onChoose(count - 1)}>
        Last page
      </Button>
    </div>
  );
}
