import type { ReactNode } from "react";

/** A table that scrolls by itself where it is wider than the screen. */
export function Table({ label, head, children }: { label: string; head: readonly ReactNode[]; children: ReactNode }) {
  return (
    <section className="overflow-x-auto rounded-xl border bg-surface" aria-label={label} tabIndex={0}>
      <table className="table w-full text-sm">
        <thead>
          <tr>
            {head.map((each, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
              <th key={at} scope="col">
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
