import type { ReactNode } from "react";

interface TableProps {
  label: string;
  head: readonly ReactNode[];
  /** The columns that a phone has no room for. */
  onlyWide?: readonly string[];
  children: ReactNode;
}

/** A table that scrolls separately if it is wider than the screen. */
export function Table({ label, head, onlyWide = [], children }: TableProps) {
  const hidden = head.flatMap((each, at) => (onlyWide.includes(String(each)) ? [`c${at + 1}`] : []));
  return (
    <section className="overflow-x-auto rounded-xl border bg-surface" aria-label={label} tabIndex={0}>
      <table className="table w-full text-sm" data-only-wide={hidden.join(" ")}>
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
