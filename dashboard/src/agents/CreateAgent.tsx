import { type AcpProgram, ApiError, type McpServers, type Model, type Runtime } from "@berth/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { McpServerList } from "../agent/McpServerList.tsx";
import { berth } from "../api/client.ts";
import { modelsQuery, runtimesQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Loaded } from "../ui/Loaded.tsx";
import { messageOf } from "../ui/message.ts";
import { Notice } from "../ui/Notice.tsx";
import { useUnsaved } from "../ui/unsaved.ts";
import { View } from "../ui/View.tsx";
import { InstructionsField, ModelField } from "./agent-fields.tsx";
import { useInstructionsDraft } from "./instructions-draft.ts";
import { NameField } from "./NameField.tsx";
import { PrivateField } from "./Private.tsx";
import { noProgram, ProgramFields, programOf } from "./ProgramFields.tsx";
import { RuntimeChoice } from "./RuntimeChoice.tsx";
import { type Size, SizeFields } from "./SizeFields.tsx";

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
  const [name, setName] = useState("");
  const [runtime, setRuntime] = useState(runtimes[0]?.name ?? "");
  const [model, setModel] = useState("");
  const draft = useInstructionsDraft(null, "");
  const [servers, setServers] = useState<McpServers>({});
  const [size, setSize] = useState<Size>({});
  const [program, setProgram] = useState(noProgram);
  const [isPrivate, setPrivate] = useState(false);
  const chosen = runtimes.find((each) => each.name === runtime);
  const usable = models.filter((each) => each.runtimes.includes(runtime));
  const usableModel = usable.some(({ id }) => id === model) ? model : "";
  const create = useCreation(draft.settle);
  useUnsaved(name !== "" || draft.isChanged || Object.keys(servers).length > 0);
  const ofName = create.error instanceof ApiError && /^agent_(exists|name)/.test(create.error.code ?? "");
  return (
    <form
      className="grid gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        const acp = chosen?.needsProgram ? programOf(program) : null;
        create.mutate({ name, runtime, model: usableModel, instructions: draft.text, acp, servers, size, isPrivate });
      }}
    >
      <NameField
        autoFocus
        value={name}
        error={ofName ? messageOf(create.error) : null}
        onChange={(value) => {
          setName(value);
          create.reset();
        }}
      />
      <RuntimeChoice runtimes={runtimes} chosen={runtime} onChoose={setRuntime} />
      {chosen?.needsProgram && <ProgramFields value={program} onChange={setProgram} />}
      <ModelField
        models={usable}
        value={usableModel}
        usual={chosen?.defaultModel ?? null}
        hint="Prices are credits per million tokens, input and output. You can change the model later."
        onChange={setModel}
      />
      <InstructionsField draft={draft} />
      <ServerFields servers={servers} onChange={setServers} />
      <PrivateField value={isPrivate} onChange={setPrivate} />
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

/** The form's values. Those that are empty are left to the service. */
interface NewAgent {
  name: string;
  runtime: string;
  model: string;
  instructions: string;
  acp: AcpProgram | null;
  servers: McpServers;
  size: Size;
  isPrivate: boolean;
}

/** Creates an agent, and shows it. `onCreated` is called before. */
function useCreation(onCreated: () => void) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ name, runtime, model, instructions, acp, servers, size, isPrivate }: NewAgent) =>
      berth.agents.create({
        name,
        runtime,
        ...(model === "" ? {} : { model }),
        ...(instructions.trim() === "" ? {} : { instructions }),
        ...(acp === null ? {} : { acp }),
        ...(Object.keys(servers).length === 0 ? {} : { mcpServers: servers }),
        ...(Object.keys(size).length === 0 ? {} : { resources: size }),
        ...(isPrivate && { private: true }),
      }),
    onSuccess: async (agent) => {
      queries.setQueryData(["agents", agent.name], agent);
      onCreated();
      await navigate({ to: "/agents/$name", params: { name: agent.name }, ignoreBlocker: true });
    },
  });
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
          Adds these servers' tools. Set the secrets that they name under Secrets, once the agent exists.
        </p>
        <McpServerList servers={servers} secrets={null} onChange={async (next) => onChange(next(servers))} />
      </div>
    </details>
  );
}
