import type { DiffLine } from "./diff.ts";

const lineTones = { "+": "bg-good-soft text-good", "-": "bg-bad-soft text-bad", " ": "" };

export function Diff({ lines, label = "Changes" }: { lines: readonly DiffLine[]; label?: string }) {
  return (
    <section className="max-h-96 overflow-auto rounded-md bg-sunken py-2" tabIndex={0} aria-label={label}>
      <pre className="font-mono text-[13px]">
        {lines.map(({ sign, text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name, and never move
          <div key={at} className={`px-3 whitespace-pre-wrap wrap-anywhere ${lineTones[sign]}`}>
            {sign} {text}
          </div>
        ))}
      </pre>
    </section>
  );
}
