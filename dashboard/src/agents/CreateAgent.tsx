import { ApiError, type McpServers, type Model, type Runtime } from "@berth/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, Minus } from "lucide-react";
import { useState } from "react";
import { McpServerList } from "../agent/McpServerList.tsx";
import { berth } from "../api/client.ts";
import { modelsQuery, runtimesQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { classes } from "../ui/classes.ts";
import { Field, Input } from "../ui/Field.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { View } from "../ui/View.tsx";
import { InstructionsField, ModelField } from "./agent-fields.tsx";
import { type Size, SizeFields } from "./SizeFields.tsx";

/** As the API says. */
const namePattern = /^[a-z][a-z0-9-]{1,28}[a-z0-9]$/;
const nameRule = "3 to 30 lowercase letters, digits and hyphens. Starts with a letter, does not end with a hyphen.";

export function CreateAgent() {
  const runtimes = useQuery(runtimesQuery);
  const models = useQuery(modelsQuery);
  return (
    <View title="Create an agent">
      <Loaded query={runtimes}>
        {(allRuntimes) => (
          <Loaded query={models}>{(allModels) => <Form runtimes={allRuntimes} models={allModels} />}</Loaded>
        )}
      </Loaded>
    </View>
  );
}

function Form({ runtimes, models }: { runtimes: readonly Runtime[]; models: readonly Model[] }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [runtime, setRuntime] = useState(runtimes[0]?.name ?? "");
  const [model, setModel] = useState("");
  const [instructions, setInstructions] = useState("");
  const [servers, setServers] = useState<McpServers>({});
  const [size, setSize] = useState<Size>({});
  const [isNameLeft, setNameLeft] = useState(false);
  const chosen = runtimes.find((each) => each.name === runtime);
  const usable = models.filter((each) => each.runtimes.includes(runtime));
  const create = useMutation({
    mutationFn: () =>
      berth.agents.create({
        name,
        runtime,
        ...(usable.some(({ id }) => id === model) ? { model } : {}),
        ...(instructions.trim() === "" ? {} : { instructions }),
        ...(Object.keys(servers).length === 0 ? {} : { mcpServers: servers }),
        ...(Object.keys(size).length === 0 ? {} : { resources: size }),
      }),
    onSuccess: async (agent) => {
      queries.setQueryData(["agents", agent.name], agent);
      await navigate({ to: "/agents/$name", params: { name: agent.name } });
    },
  });
  const isNameGood = namePattern.test(name);
  const ofName = create.error instanceof ApiError && /^agent_(exists|name)/.test(create.error.code ?? "");
  const nameError = ofName ? messageOf(create.error) : isNameLeft && name !== "" && !isNameGood ? nameRule : null;
  return (
    <form
      className="grid gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        setNameLeft(true);
        if (isNameGood) create.mutate();
      }}
    >
      <Field label="Name" hint={nameRule} error={nameError}>
        {(props) => (
          <Input
            {...props}
            value={name}
            onChange={(event) => {
              setName(event.target.value);
              create.reset();
            }}
            onBlur={() => setNameLeft(true)}
            required
            maxLength={30}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            className="max-w-sm"
          />
        )}
      </Field>
      <fieldset className="grid gap-2">
        <legend className="mb-1.5 text-sm font-medium">Runtime</legend>
        <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
          {runtimes.map((each) => (
            <RuntimeCard
              key={each.name}
              runtime={each}
              isChosen={each.name === runtime}
              onChoose={() => setRuntime(each.name)}
            />
          ))}
        </div>
      </fieldset>
      <ModelField
        models={usable}
        value={usable.some(({ id }) => id === model) ? model : ""}
        usual={chosen?.defaultModel ?? null}
        hint="Prices are credits per million tokens, input and output. You can change the model later."
        onChange={setModel}
      />
      <InstructionsField value={instructions} onChange={setInstructions} />
      <ServerFields servers={servers} onChange={setServers} />
      <SizeFields size={size} onChange={setSize} />
      {create.error && !ofName && <Notice tone="bad">{messageOf(create.error)}</Notice>}
      <div>
        <Button type="submit" kind="primary" isBusy={create.isPending}>
          Create agent
        </Button>
      </div>
    </form>
  );
}

/** The agent's MCP servers, folded: many agents need none. */
function ServerFields({ servers, onChange }: { servers: McpServers; onChange: (servers: McpServers) => void }) {
  const count = Object.keys(servers).length;
  return (
    <details>
      <summary className="w-fit cursor-pointer rounded text-sm font-medium">
        MCP servers{count > 0 && ` (${count})`}
      </summary>
      <div className="mt-3 grid gap-3">
        <p className="text-sm text-muted">
          The agent has their tools. Set the secrets that they name under Secrets, once the agent exists.
        </p>
        <McpServerList servers={servers} secrets={null} onChange={async (next) => onChange(next(servers))} />
      </div>
    </details>
  );
}

const abilityWords: Readonly<Record<keyof Runtime["abilities"], string>> = {
  instructions: "Takes instructions",
  model: "Any of its models",
  reset: "Starts a new conversation",
  cancel: "Can be interrupted",
  tools: "Shows its tools",
  reasoning: "Shows its reasoning",
  usage: "Counts its tokens",
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
