import type { ReactNode } from "react";

interface TableProps {
  label: string;
  head: readonly ReactNode[];
  /** The columns that a phone has no room for. It has them below the others. */
  onlyWide?: readonly string[];
  children: ReactNode;
}

/** A table that scrolls separately if it is wider than the screen. For up to eight columns. */
export function Table({ label, head, onlyWide = [], children }: TableProps) {
  const below = head.flatMap((each, at) => (onlyWide.includes(String(each)) ? [{ id: `c${at + 1}`, name: each }] : []));
  const names = Object.fromEntries(below.map(({ id, name }) => [`--${id}`, JSON.stringify(name)]));
  return (
    <section className="scrolls-sideways overflow-x-auto rounded-xl border" aria-label={label} tabIndex={0}>
      <table
        className="table w-full text-sm"
        style={names}
        data-below={below.length === 0 ? undefined : below.map(({ id }) => id).join(" ")}
      >
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
