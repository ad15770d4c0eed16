import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { scheduleTimesQuery } from "../api/queries.ts";
import { messageOf } from "../ui/message.ts";
import { Time } from "../ui/Time.tsx";
import { timeIn } from "./schedule.ts";

/** The next times of a line of cron, or what is wrong with it. */
export function NextTimes({ cron, timeZone }: { cron: string; timeZone: string }) {
  const { data, error } = useQuery({ ...scheduleTimesQuery(cron, timeZone), placeholderData: keepPreviousData });
  if (error) {
    return (
      <p role="alert" className="text-sm wrap-anywhere text-bad">
        {messageOf(error)}
      </p>
    );
  }
  return (
    <ol aria-label="Next times" className="grid gap-0.5 text-sm text-muted tabular-nums">
      {data?.times.map((at) => (
        <li key={at}>
          {timeIn(at, timeZone)} · <Time at={at} />
        </li>
      ))}
    </ol>
  );
}
