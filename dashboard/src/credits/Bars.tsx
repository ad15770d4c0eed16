import type { UsageSum } from "@berth/client";
import { credits } from "../ui/credits.ts";

/** More are summed up. */
const shown = 8;

/** A bar for each group, the longest first. */
export function Bars({ sums }: { sums: readonly UsageSum[] }) {
  const sorted = sums.toSorted((a, b) => Number(b.credits) - Number(a.credits));
  const most = Number(sorted[0]?.credits ?? 0);
  return (
    <ul className="grid gap-2.5">
      {sorted.slice(0, shown).map(({ group, name, credits: spent }) => (
        <li key={group ?? ""} className="grid gap-1 text-sm">
          <div className="flex justify-between gap-4">
            <span className="truncate">{name ?? group ?? "Machine time"}</span>
            <span className="tabular-nums">{credits(spent)}</span>
          </div>
          <div className="h-2 rounded-full bg-sunken" aria-hidden>
            <div
              className="h-full rounded-full bg-accent-fill"
              style={{ width: `${Math.max(1, (100 * Number(spent)) / most)}%` }}
            />
          </div>
        </li>
      ))}
    </ul>
  );
}
