import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { NameField } from "../agents/NameField.tsx";
import { berth } from "../api/client.ts";
import { agentQuery } from "../api/queries.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";

interface Props {
  /** The name of the agent that the fork begins as. */
  source: string;
  snapshot: { id: string; label: string };
}

/** Makes an agent of a snapshot, and leads to it. */
export function ForkDialog({ source, snapshot }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Fork</Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={`A new agent from “${snapshot.label}”`}
        description={`It starts with ${source}'s files, running programs and conversation at that time, and is independent afterwards.`}
      >
        <ForkForm source={source} snapshot={snapshot} onCancel={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function ForkForm({ source, snapshot, onCancel }: Props & { onCancel: () => void }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [secrets, setSecrets] = useState(false);
  const fork = useAction(async () => {
    const made = await berth.agents.create({ name, from: { agent: source, snapshot: snapshot.id, secrets } });
    queries.setQueryData(agentQuery(made.name).queryKey, made);
    await navigate({ to: "/agents/$name", params: { name: made.name } });
  });
  return (
    <Form onSubmit={() => fork.run()}>
      <NameField label="Name of the new agent" value={name} onChange={setName} />
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" checked={secrets} onChange={(event) => setSecrets(event.target.checked)} />
        Copy the secrets of {source} too
      </label>
      <DialogEnd of={fork} action="Make it" onCancel={onCancel} />
    </Form>
  );
}
