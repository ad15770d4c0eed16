import type { Runtime } from "@berth/client";
import { Check, Minus } from "lucide-react";
import { classes } from "../ui/classes.ts";

interface ChoiceProps {
  runtimes: readonly Runtime[];
  /** The name of the chosen one. */
  chosen: string;
  onChoose: (name: string) => void;
}

/** A choice of one runtime, by abilities. */
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
  instructions: "Takes instructions",
  model: "Any of its models",
  effort: "Reasons as much as you say",
  reset: "Starts a new conversation",
  cancel: "Can be interrupted",
  tools: "Shows its tools",
  reasoning: "Shows its reasoning",
  usage: "Counts its tokens",
  permissions: "Asks before it acts",
  steer: "Takes messages while it works",
  output: "Answers with JSON",
};

interface CardProps {
  runtime: Runtime;
  isChosen: boolean;
  onChoose: () => void;
}

function RuntimeCard({ runtime: { name, version, abilities }, isChosen, onChoose }: CardProps) {
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
          aria-describedby={`abilities-of-${name}`}
          checked={isChosen}
          onChange={onChoose}
        />
        <span className="font-medium">{name}</span>
        <span className="ml-auto text-xs text-muted">{version}</span>
      </span>
      <span id={`abilities-of-${name}`} className="grid gap-1 text-[13px]">
        {Object.entries(abilityWords).map(([ability, words]) => {
          const { supported, reason } = abilities[ability as keyof Runtime["abilities"]];
          const Icon = supported ? Check : Minus;
          return (
            <span key={ability} className="flex gap-2 text-muted">
              <Icon className={classes("mt-0.5 size-3.5 shrink-0", supported && "text-good")} aria-hidden />
              <span>
                {supported ? words : `Not: ${words.toLowerCase()}.`} {reason}
              </span>
            </span>
          );
        })}
      </span>
    </label>
  );
}
