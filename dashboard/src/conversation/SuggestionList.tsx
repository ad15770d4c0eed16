import type { Suggestions } from "./use-suggestions.ts";

/** The suggestions for what is being written, above the field. The field keeps the focus. */
export function SuggestionList({ id, suggestions }: { id: string; suggestions: Suggestions }) {
  const { title, items, active, take } = suggestions;
  return (
    <div className="absolute bottom-full left-0 z-30 mb-3 w-full max-w-md overflow-hidden rounded-xl border bg-raised shadow-xl">
      <div id={id} role="listbox" aria-label={title} className="max-h-64 overflow-y-auto p-1.5">
        {items.map(({ label, hint }, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
          <div
            key={label}
            id={`${id}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === active}
            // The field would lose the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => take(at)}
            ref={(element) => {
              if (at === active) element?.scrollIntoView({ block: "nearest" });
            }}
            className="flex min-h-9 cursor-pointer items-center gap-3 rounded-lg px-3 py-1.5 text-sm hover:bg-sunken aria-selected:bg-sunken"
          >
            <bdi className="min-w-0 wrap-anywhere">{label}</bdi>
            <span className="ml-auto text-right text-xs text-muted">{hint}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
