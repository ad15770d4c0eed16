import type { Agent, Usage } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { efforts } from "../agents/efforts.ts";
import { useModel } from "../agents/use-model.ts";
import { berth } from "../api/client.ts";
import { agentQuery, modelsQuery, runtimesQuery } from "../api/queries.ts";
import { Failure } from "../ui/Failure.tsx";
import { useAction } from "../ui/use-action.ts";

interface BarProps {
  agent: Agent;
  /** The usage of the conversation's last turn; null before there is one. */
  usage: Usage | null;
}

/** Below a message: the agent's model and effort, and how full the model's context is. */
export function ComposerBar({ agent, usage }: BarProps) {
  const queries = useQueryClient();
  const { data: models = [] } = useQuery(modelsQuery);
  const { data: runtimes = [] } = useQuery(runtimesQuery);
  const { name, runtime, model, effort } = agent;
  const change = useAction(async (changes: Partial<Pick<Agent, "model" | "effort">>) => {
    const changed = await berth.agent(name).update(changes);
    queries.setQueryData(agentQuery(name).queryKey, changed);
  });
  const usable = models.filter((each) => each.runtimes.includes(runtime)).map(({ id }) => id);
  const abilities = runtimes.find((each) => each.name === runtime)?.abilities;
  const { defaultModel, isDemo } = useModel(agent);
  return (
    <>
      <div className="flex min-h-7 min-w-0 flex-wrap items-center gap-x-1 text-xs text-muted">
        <Choice
          label="Model"
          value={model ?? ""}
          isBusy={change.isBusy}
          onChoose={(chosen) => change.run({ model: chosen || null })}
        >
          <option value="">{defaultModel === null ? "Default model" : `Default (${defaultModel})`}</option>
          {[...new Set(model === null ? usable : [model, ...usable])].map((id) => (
            <option key={id}>{id}</option>
          ))}
        </Choice>
        {abilities?.effort?.supported && (
          <Choice
            label="Effort"
            value={effort ?? ""}
            isBusy={change.isBusy}
            onChoose={(chosen) => change.run({ effort: (chosen || null) as Agent["effort"] })}
          >
            <option value="">Default effort</option>
            {efforts.map((level) => (
              <option key={level} value={level}>
                Effort: {level}
              </option>
            ))}
          </Choice>
        )}
        {isDemo && (
          <span className="px-1">
            Demo mode: it does not think.{" "}
            <Link to="/providers" search={{ add: true }} className="text-accent underline">
              Connect a model
            </Link>
          </span>
        )}
        {usage !== null && <Context usage={usage} />}
      </div>
      <Failure of={change.error} />
    </>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  isBusy: boolean;
  onChoose: (value: string) => void;
  children: ReactNode;
}

function Choice({ label, value, isBusy, onChoose, children }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      title={`${label}: applies from the next message on`}
      value={value}
      disabled={isBusy}
      onChange={({ target }) => onChoose(target.value)}
      className="field-sizing-content max-w-[45%] min-w-0 rounded-md bg-transparent px-1 py-1 hover:bg-sunken hover:text-ink"
    >
      {children}
    </select>
  );
}

/** Above this share, a runtime may soon compact the conversation. */
const nearlyFull = 0.8;

function Context({ usage: { contextTokens, contextLimit } }: { usage: Usage }) {
  if (contextTokens === null) return null;
  const tokens = contextTokens.toLocaleString("en");
  if (contextLimit === null) return <span className="ml-auto px-1">{tokens} tokens of context</span>;
  const share = Math.min(1, contextTokens / contextLimit);
  return (
    <span
      className={`ml-auto flex items-center gap-1.5 px-1 ${share >= nearlyFull ? "text-warn" : ""}`}
      title={`${tokens} of ${contextLimit.toLocaleString("en")} tokens`}
    >
      <Ring share={share} />
      <span>
        {share > 0 && share < 0.01 ? "<1" : Math.round(share * 100)} %
        <span className="max-sm:sr-only"> of context</span>
      </span>
    </span>
  );
}

/** A circle, filled as far as the share. */
function Ring({ share }: { share: number }) {
  return (
    <svg viewBox="0 0 16 16" className="size-3.5 -rotate-90" aria-hidden="true">
      <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="2.5" opacity="0.25" />
      <circle
        cx="8"
        cy="8"
        r="6"
        fill="none"
        stroke="currentColor"
        strokeWidth="2.5"
        pathLength="1"
        strokeDasharray={`${share} 1`}
      />
    </svg>
  );
}
