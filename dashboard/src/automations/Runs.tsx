import type { AutomationRun } from "@berth/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { runsQuery } from "../api/queries.ts";
import { Markdown } from "../conversation/Markdown.tsx";
import { credits } from "../ui/credits.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { Empty } from "../ui/Notice.tsx";
import { Older } from "../ui/Older.tsx";
import { Table } from "../ui/Table.tsx";
import { duration, Time } from "../ui/Time.tsx";
import { RunBadge } from "./RunBadge.tsx";

const openEveryMs = 2_000;

/** An automation's runs, the newest first. */
export function Runs({ name }: { name: string }) {
  const query = useInfiniteQuery({
    ...runsQuery(name),
    // The beginning of a run has no event.
    refetchInterval: ({ state: { data } }) => (data?.pages[0]?.data.some(isOpen) ? openEveryMs : false),
  });
  const [shown, show] = useState<AutomationRun | null>(null);
  return (
    <>
      <Loaded query={query}>
        {({ pages }) => {
          const runs = pages.flatMap(({ data }) => data);
          if (runs.length === 0) return <Empty title="It has not run yet" />;
          return (
            <Table label="Runs" onlyWide={["Took", "Credits"]} head={["Due", "Status", "Result", "Took", "Credits"]}>
              {runs.map((run) => (
                <Row key={run.id} run={run} onShow={() => show(run)} />
              ))}
            </Table>
          );
        }}
      </Loaded>
      <Older query={query} />
      <Dialog isOpen={shown !== null} onClose={() => show(null)} title="Run" isWide>
        {shown && <Run of={shown} onLeave={() => show(null)} />}
      </Dialog>
    </>
  );
}

function isOpen({ finishedAt }: AutomationRun): boolean {
  return finishedAt === null;
}

function Row({ run, onShow }: { run: AutomationRun; onShow: () => void }) {
  const { dueAt, status, reason, reply, startedAt, finishedAt } = run;
  return (
    <tr>
      <td className="whitespace-nowrap text-muted">
        <Time at={dueAt} />
      </td>
      <td>
        <RunBadge status={status} />
      </td>
      <td className="max-w-40 sm:max-w-80">
        <button type="button" className="block max-w-full truncate text-left hover:underline" onClick={onShow}>
          {reason?.message ?? (reply.trim() || "Show")}
        </button>
      </td>
      <td className="whitespace-nowrap text-muted tabular-nums">
        {startedAt && finishedAt && duration(Date.parse(finishedAt) - Date.parse(startedAt))}
      </td>
      <td className="text-muted tabular-nums">{run.credits !== null && credits(run.credits)}</td>
    </tr>
  );
}

/** The record of a run, also when its agent is gone. */
function Run({ of: run, onLeave }: { of: AutomationRun; onLeave: () => void }) {
  const { status, reason, agent, turnId, message, reply, replyTruncated, dueAt } = run;
  return (
    <div className="grid gap-4 text-sm">
      <p className="text-muted">
        <RunBadge status={status} /> <Time at={dueAt} />
        {agent && turnId && (
          <>
            {" · "}
            <Link
              to="/agents/$name/turns/$turnId"
              params={{ name: agent, turnId }}
              onClick={onLeave}
              className="text-accent hover:underline"
            >
              The turn of {agent}
            </Link>
          </>
        )}
      </p>
      {reason && <p className="wrap-anywhere text-bad">{reason.message}</p>}
      <section aria-label="Message" className="grid gap-1">
        <h3 className="font-medium">Message</h3>
        <p className="whitespace-pre-wrap wrap-anywhere text-muted">{message}</p>
      </section>
      {reply !== "" && (
        <section aria-label="Reply" className="grid gap-1">
          <h3 className="font-medium">Reply</h3>
          <Markdown text={reply} isStreaming={false} />
          {replyTruncated && <p className="text-muted">The rest of the reply is in the turn.</p>}
        </section>
      )}
    </div>
  );
}
