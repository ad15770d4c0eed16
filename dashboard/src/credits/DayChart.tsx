import type { UsageSum } from "@berth/client";
import { credits } from "../ui/credits.ts";

const dayName = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });

/** Spending per day, as columns. Its table is for users who cannot see them. */
export function DayChart({ sums, since, days }: { sums: readonly UsageSum[]; since: string; days: number }) {
  const spentOn = new Map(sums.map(({ group, credits: spent }) => [group?.slice(0, 10), Number(spent)]));
  const columns = Array.from({ length: days }, (_, at) => {
    const day = new Date(Date.parse(since) + at * 86_400_000);
    return { name: dayName.format(day), spent: spentOn.get(day.toISOString().slice(0, 10)) ?? 0 };
  });
  const most = Math.max(...columns.map(({ spent }) => spent));
  return (
    <figure className="grid gap-1">
      <div className="flex h-36 items-end gap-px" aria-hidden>
        {columns.map(({ name, spent }) => (
          <div
            key={name}
            title={`${name}: ${credits(String(spent))} credits`}
            className="flex h-full flex-1 items-end rounded-sm hover:bg-sunken"
          >
            <div
              className="w-full rounded-t-sm bg-accent-fill"
              style={{ height: spent === 0 ? "1px" : `${Math.max(2, (100 * spent) / most)}%` }}
            />
          </div>
        ))}
      </div>
      <figcaption className="flex justify-between text-xs text-muted">
        <span>{columns[0]?.name}</span>
        <span>at most {credits(String(most))} a day</span>
        <span>{columns.at(-1)?.name}</span>
      </figcaption>
      <table className="sr-only">
        <caption>Credits spent by day</caption>
        <tbody>
          {columns.map(({ name, spent }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{credits(String(spent))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
