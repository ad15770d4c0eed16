import type { Agent } from "@berth/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { noProgram, ProgramFields, programOf } from "../agents/ProgramFields.tsx";
import { berth } from "../api/client.ts";
import { agentQuery, modelsQuery, runtimesQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Select } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";

/** Switches the agent to another runtime, with its files and conversation. */
export function RuntimeChange({ agent }: { agent: Agent }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Change</Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`Another runtime for ${agent.name}`}
        description="The machine reboots with it. Files are kept, and the conversation is replayed to it, without tool calls. Running programs end."
      >
        <RuntimeForm agent={agent} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function RuntimeForm({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const queries = useQueryClient();
  const { data: runtimes = [] } = useQuery(runtimesQuery);
  const { data: models = [] } = useQuery(modelsQuery);
  const others = runtimes.filter(({ name }) => name !== agent.runtime);
  const [chosen, setChosen] = useState<string | null>(null);
  const runtime = chosen ?? others[0]?.name ?? "";
  const [program, setProgram] = useState(noProgram);
  const needsProgram = others.find(({ name }) => name === runtime)?.needsProgram ?? false;
  const model = models.find(({ id }) => id === agent.model);
  const losesModel = model !== undefined && !model.runtimes.includes(runtime);
  const change = useAction(async () => {
    const acp = needsProgram ? { acp: programOf(program) } : {};
    const changed = await berth.agent(agent.name).update({ runtime, ...acp, ...(losesModel ? { model: null } : {}) });
    queries.setQueryData(agentQuery(agent.name).queryKey, changed);
    onClose();
  });
  return (
    <Form of={change} onSubmit={() => change.run()}>
      <Field
        label="Runtime"
        hint={losesModel ? `It cannot use ${agent.model}, and uses its own default model.` : undefined}
      >
        {(props) => (
          <Select {...props} value={runtime} onChange={(event) => setChosen(event.target.value)}>
            {others.map(({ name, version }) => (
              <option key={name} value={name}>
                {name} {version}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {needsProgram && <ProgramFields value={program} onChange={setProgram} />}
      <DialogEnd of={change} action="Switch runtime" onCancel={onClose} />
    </Form>
  );
}
