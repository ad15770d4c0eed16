import type { Runtime } from "@berth/client";
import { Check, Minus } from "lucide-react";
import { classes } from "../ui/classes.ts";

interface ChoiceProps {
  runtimes: readonly Runtime[];
  /** The name of the chosen one. */
  chosen: string;
  onChoose: (name: string) => void;
}

/** A choice of one runtime, by what it is for and what it lacks. */
export function RuntimeChoice({ runtimes, chosen, onChoose }: ChoiceProps) {
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1.5 text-sm font-medium">Runtime</legend>
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {runtimes.map((each) => (
          <RuntimeCard
            key={each.name}
            runtime={each}
            isChosen={each.name === chosen}
            onChoose={() => onChoose(each.name)}
          />
        ))}
      </div>
    </fieldset>
  );
}

const abilityWords: Readonly<Record<keyof Runtime["abilities"], string>> = {
  instructions: "Custom instructions",
  model: "Model choice",
  effort: "Effort choice",
  reset: "New conversations",
  cancel: "Interruption",
  tools: "Tool calls shown",
  reasoning: "Reasoning shown",
  usage: "Token usage",
  permissions: "Approvals",
  steer: "Messages while it works",
  output: "Structured output",
};

interface CardProps {
  runtime: Runtime;
  isChosen: boolean;
  onChoose: () => void;
}

function RuntimeCard({ runtime, isChosen, onChoose }: CardProps) {
  const { name, description, version, providers, abilities } = runtime;
  const about = `about-${name}`;
  const limits = Object.entries(abilityWords).flatMap(([ability, words]) => {
    const { supported, reason } = abilities[ability as keyof Runtime["abilities"]];
    return supported && reason === null ? [] : [{ ability, words, supported, reason }];
  });
  return (
    <label
      className={classes(
        "grid cursor-pointer content-start gap-2 rounded-xl border bg-surface p-4 has-focus-visible:outline-2 has-focus-visible:outline-accent",
        isChosen && "!border-accent ring-1 ring-accent",
      )}
    >
      <span className="flex items-center gap-2">
        <input
          type="radio"
          name="runtime"
          aria-label={name}
          aria-describedby={about}
          checked={isChosen}
          onChange={onChoose}
        />
        <span className="font-medium">{name}</span>
        <span className="ml-auto text-xs text-muted">{version}</span>
      </span>
      <span id={about} className="grid gap-1 text-[13px] text-muted">
        <span className="text-ink">{description}</span>
        <span>Models of {providers.length === 0 ? "no provider yet" : providers.join(", ")}</span>
        {limits.map(({ ability, words, supported, reason }) => {
          const Icon = supported ? Check : Minus;
          return (
            <span key={ability} className="flex gap-2">
              <Icon className={classes("mt-0.5 size-3.5 shrink-0", supported && "text-good")} aria-hidden />
              <span>
                {supported ? words : `No ${words.charAt(0).toLowerCase()}${words.slice(1)}`}. {reason}
              </span>
            </span>
          );
        })}
      </span>
    </label>
  );
}
