import { piecesOf } from "./fences.ts";

/**
 * Markdown without its parsing, until there is time for it. Paragraphs and code have the height that they will have, so
 * that nothing moves: their classes are Streamdown's.
 */
export function PlainMarkdown({ text }: { text: string }) {
  return (
    <div className="prose min-w-0 space-y-4 whitespace-normal wrap-anywhere">
      {piecesOf(text).map(({ text: piece, language }, at) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces never move
        language === null ? paragraphs(piece, at) : <Code key={at} language={language} text={piece} />,
      )}
    </div>
  );
}

function paragraphs(text: string, at: number) {
  return text
    .split(/\n{2,}/)
    .filter((each) => each.trim() !== "")
    .map((each, index) => <p key={`${at}.${String(index)}`}>{each}</p>);
}

function Code({ language, text }: { language: string; text: string }) {
  return (
    <div className="my-4 flex w-full flex-col gap-2 rounded-xl border bg-surface p-2">
      <p className="flex h-8 items-center text-xs text-muted">
        <span className="ml-1 font-mono lowercase">{language}</span>
      </p>
      <div className="overflow-auto rounded-md border border-transparent p-4 text-sm" style={{ maxHeight: 400 }}>
        <pre className="pl-10">{text}</pre>
      </div>
    </div>
  );
}
