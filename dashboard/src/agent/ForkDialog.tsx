import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { NameField } from "../agents/NameField.tsx";
import { berth } from "../api/client.ts";
import { agentQuery } from "../api/queries.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";

interface Props {
  /** The name of the agent that the fork begins as. */
  source: string;
  /** Null: its current state. */
  snapshot: { id: string; label: string } | null;
  onClose: () => void;
}

/** Makes an agent of another one, and leads to it. */
export function ForkDialog({ source, snapshot, onClose }: Props) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`A new agent from ${snapshot === null ? source : `“${snapshot.label}”`}`}
      description={`It starts with ${source}'s files, running programs and conversation ${snapshot === null ? "of now" : "at that time"}, and is independent afterwards.`}
    >
      <ForkForm source={source} snapshot={snapshot} onClose={onClose} />
    </Dialog>
  );
}

function ForkForm({ source, snapshot, onClose }: Props) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [secrets, setSecrets] = useState(false);
  const fork = useAction(async () => {
    const from = { agent: source, secrets, ...(snapshot && { snapshot: snapshot.id }) };
    const made = await berth.agents.create({ name, from });
    queries.setQueryData(agentQuery(made.name).queryKey, made);
    onClose();
    await navigate({ to: "/agents/$name", params: { name: made.name } });
  });
  return (
    <Form of={fork} onSubmit={() => fork.run()}>
      <NameField label="Name of the new agent" value={name} onChange={setName} />
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" checked={secrets} onChange={(event) => setSecrets(event.target.checked)} />
        Copy the secrets of {source} too
      </label>
      <DialogEnd of={fork} action="Create fork" onCancel={onClose} />
    </Form>
  );
}
