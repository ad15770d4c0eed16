import type { Agent } from "@berth/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import { type ReactNode, useState } from "react";
import { demoModel } from "../agents/demo-model.ts";
import { inWorkspace } from "../api/client.ts";
import { modelsQuery, recentTurnsQuery } from "../api/queries.ts";
import { Button, buttonClasses } from "../ui/Button.tsx";
import { Section } from "../ui/View.tsx";
import { useMay } from "../workspace/use-may.ts";

const dismissedStored = inWorkspace("berth getting started dismissed");

/** The first steps in a workspace, until all are done or they are dismissed. */
export function GettingStarted({ agents }: { agents: readonly Agent[] }) {
  const mayUse = useMay("use");
  const models = useQuery(modelsQuery);
  const turns = useInfiniteQuery(recentTurnsQuery);
  const [isDismissed, setDismissed] = useState(() => localStorage.getItem(dismissedStored) !== null);
  const hasModel = models.data?.some(({ id }) => id !== demoModel) ?? false;
  const hasTurns = turns.data?.pages.some(({ data }) => data.length > 0) ?? false;
  const first = agents[0];
  if (!mayUse || isDismissed || !models.isSuccess || !turns.isSuccess || (hasModel && first && hasTurns)) return null;
  const dismiss = () => {
    localStorage.setItem(dismissedStored, "yes");
    setDismissed(true);
  };
  return (
    <Section
      title="Getting started"
      actions={
        <Button kind="quiet" onClick={dismiss}>
          Hide
        </Button>
      }
    >
      <ol className="divide-y rounded-xl border bg-surface">
        <Step
          title="Connect a model"
          isDone={hasModel}
          action={
            <Link to="/providers" search={{ add: true }} className={buttonClasses("primary")}>
              Add a provider
            </Link>
          }
        >
          Demo mode: the demonstration model repeats your messages and runs commands, but does not think. Add an API key
          or a subscription.
        </Step>
        <Step
          title="Create an agent"
          isDone={first !== undefined}
          action={
            <Link to="/create-agent" className={buttonClasses(hasModel ? "primary" : "plain")}>
              Create an agent
            </Link>
          }
        >
          It works in its own machine, with its own files, and keeps both.
        </Step>
        <Step
          title="Give it a task"
          isDone={hasTurns}
          action={
            first && (
              <Link to="/agents/$name" params={{ name: first.name }} className={buttonClasses()}>
                Write to {first.name}
              </Link>
            )
          }
        >
          For example: clone a repository and explain it, or build a small page and show it on a port.
        </Step>
      </ol>
    </Section>
  );
}

interface StepProps {
  title: string;
  isDone: boolean;
  action: ReactNode;
  children: ReactNode;
}

function Step({ title, isDone, action, children }: StepProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
      <span
        className={`grid size-5 shrink-0 place-items-center rounded-full border ${isDone ? "border-good bg-good-soft text-good" : "border-line-strong"}`}
      >
        {isDone && <Check className="size-3.5" aria-hidden />}
      </span>
      <div className="min-w-0 flex-1 basis-64 text-sm">
        <p className="font-medium">
          {title}
          <span className="sr-only">{isDone ? " (done)" : " (to do)"}</span>
        </p>
        {!isDone && <p className="text-muted">{children}</p>}
      </div>
      {!isDone && action}
    </li>
  );
}
