import type { PlanStep, Turn } from "@berth/client";
import { CircleCheck, CircleDashed, CircleDot, ListTodo, type LucideIcon } from "lucide-react";
import { classes } from "../ui/classes.ts";
import { Folded } from "./Folded.tsx";
import { useLiveTurn } from "./live-turns.ts";
import { isOver, type Part } from "./turn-state.ts";

type Steps = readonly PlanStep[];

/** The agent's plan in one line, which opens. */
export function Plan({ steps }: { steps: Steps }) {
  if (steps.length === 0) return null;
  return (
    <Folded
      icon={<ListTodo className="size-4 shrink-0 text-muted" aria-hidden />}
      title={<span className="font-sans text-sm">{summaryOf(steps)}</span>}
      aside={null}
    >
      <StepList steps={steps} />
    </Folded>
  );
}

/** The plan of the turn that runs, above the message field. It opens to all steps. */
export function PinnedPlan({ agent, turn }: { agent: string; turn: Turn }) {
  const { state } = useLiveTurn(agent, turn, true);
  const steps = stepsIn(state.parts);
  if (steps.length === 0 || isOver(state.phase)) return null;
  return (
    <section aria-label="Plan of the running turn" className="border-t bg-surface px-4 py-2">
      <div className="mx-auto grid w-full max-w-3xl">
        <Plan steps={steps} />
      </div>
    </section>
  );
}

function stepsIn(parts: readonly Part[]): Steps {
  return parts.find((part) => part.kind === "plan")?.steps ?? [];
}

function summaryOf(steps: Steps): string {
  const done = steps.filter(({ status }) => status === "completed").length;
  const current = steps.find(({ status }) => status === "in_progress");
  return `Plan: ${done} of ${steps.length} done${current ? `. ${current.text}` : ""}`;
}

const looks: Record<PlanStep["status"], { Icon: LucideIcon; name: string; tone: string }> = {
  pending: { Icon: CircleDashed, name: "to do", tone: "text-muted" },
  in_progress: { Icon: CircleDot, name: "in progress", tone: "text-accent" },
  completed: { Icon: CircleCheck, name: "done", tone: "text-good" },
};

function StepList({ steps }: { steps: Steps }) {
  return (
    <ol className="grid max-h-60 gap-1.5 overflow-y-auto" aria-label="Steps">
      {steps.map(({ text, status }, at) => {
        const { Icon, name, tone } = looks[status];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step has only its place
          <li key={at} className="flex items-start gap-2">
            <Icon className={classes("mt-0.5 size-4 shrink-0", tone)} aria-label={name} />
            <span dir="auto" className={classes("min-w-0 wrap-anywhere", status === "completed" && "text-muted")}>
              {text}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
