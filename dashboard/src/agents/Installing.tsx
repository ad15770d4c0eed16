import type { InstallStatus } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { Circle, CircleAlert, CircleCheck, LoaderCircle } from "lucide-react";
import { useEffect, useState } from "react";
import { berth } from "../api/client.ts";
import { agentsQuery } from "../api/queries.ts";
import { messageOf } from "../ui/message.ts";
import { Loading, Notice } from "../ui/Notice.tsx";
import { duration, Elapsed } from "../ui/Time.tsx";

type Step = InstallStatus["steps"][number];

const stepWords: Readonly<Record<Step["name"], string>> = {
  template: "Preparing runtime image",
  disk: "Creating disk",
  machine: "Machine",
  runtime: "Runtime",
};
const icons = { pending: Circle, running: LoaderCircle, done: CircleCheck, failed: CircleAlert };
const tones = { pending: "text-muted", running: "animate-spin text-accent", done: "text-good", failed: "text-bad" };

/** The steps of an agent's creation, as they happen. */
export function Installing({ name }: { name: string }) {
  const queries = useQueryClient();
  const [status, setStatus] = useState<InstallStatus | null>(null);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    const follow = async () => {
      for await (const next of berth.agent(name).followInstall({ signal: abort.signal })) setStatus(next);
      await queries.invalidateQueries({ queryKey: agentsQuery.queryKey });
    };
    follow().catch((failure: unknown) => abort.signal.aborted || setError(messageOf(failure)));
    return () => abort.abort();
  }, [name, queries]);
  return (
    <section aria-label="Setting up" className="mx-auto grid w-full max-w-md gap-4 rounded-2xl border bg-surface p-5">
      <h2 className="font-semibold">Setting up the machine of {name}</h2>
      {status ? (
        <ol className="grid gap-2.5" aria-live="polite">
          {status.steps.map((step) => (
            <StepLine key={step.name} step={step} />
          ))}
        </ol>
      ) : (
        !error && <Loading />
      )}
      {status?.steps.some(({ name: step, status }) => step === "template" && status === "running") && (
        <p className="text-sm text-muted">The first agent of a runtime takes some minutes. You can leave this page.</p>
      )}
      {error && <Notice tone="bad">{error}</Notice>}
    </section>
  );
}

function StepLine({ step: { name, status, startedAt, finishedAt } }: { step: Step }) {
  const Icon = icons[status];
  return (
    <li className="flex items-center gap-2.5 text-sm">
      <Icon className={`size-4 shrink-0 ${tones[status]}`} aria-hidden />
      <span className={status === "pending" ? "text-muted" : ""}>{stepWords[name]}</span>
      <span className="sr-only">{status}</span>
      <span className="ml-auto text-muted">
        {startedAt && finishedAt && duration(Date.parse(finishedAt) - Date.parse(startedAt))}
        {startedAt && status === "running" && <Elapsed since={Date.parse(startedAt)} />}
      </span>
    </li>
  );
}
