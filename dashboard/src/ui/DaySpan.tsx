import { useId } from "react";
import { Input } from "./Field.tsx";

export type SpanName = "since" | "until";
type Span = Partial<Record<SpanName, string>>;

const labels = { since: "From", until: "To" } as const;
const dayMs = 86_400_000;

/** Two days as the filter of a list. Both are part of it. */
export function DaySpan({ chosen, onChange }: { chosen: Span; onChange: (change: Span) => void }) {
  const id = useId();
  return (["since", "until"] as const).map((edge) => (
    <div key={edge} className="flex items-center gap-2 text-sm text-muted">
      <label htmlFor={`${id} ${edge}`}>{labels[edge]}</label>
      <Input
        id={`${id} ${edge}`}
        type="date"
        className="!w-auto"
        defaultValue={chosen[edge] ?? ""}
        onChange={({ target }) => onChange({ [edge]: target.value })}
      />
    </div>
  ));
}

/** The span of the days, of UTC, as the API takes it. Texts that are no days are left out. */
export function spanOf({ since, until }: Span): Span {
  const [from, to] = [momentOf(since, 0), momentOf(until, dayMs)];
  return { ...(from !== null && { since: from }), ...(to !== null && { until: to }) };
}

function momentOf(day = "", addedMs: number): string | null {
  const ms = Date.parse(day);
  return Number.isNaN(ms) ? null : new Date(ms + addedMs).toISOString();
}
