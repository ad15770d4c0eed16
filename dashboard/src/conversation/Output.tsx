/** A structured output, formatted. */
export function Output({ value }: { value: object }) {
  return (
    <section aria-label="Output" className="grid gap-1.5 rounded-lg border bg-surface p-3 text-sm">
      <h3 className="text-muted">Output</h3>
      <pre className="max-h-96 overflow-auto font-mono text-[13px] whitespace-pre-wrap wrap-anywhere">
        {jsonOf(value)}
      </pre>
    </section>
  );
}

export function jsonOf(value: object): string {
  return JSON.stringify(value, null, 2);
}
