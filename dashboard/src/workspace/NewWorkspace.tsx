import { useState } from "react";
import { berth } from "../api/client.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { useAction } from "../ui/use-action.ts";
import { openWorkspace } from "./choice.ts";

/** Creates a workspace and opens it. */
export function NewWorkspace({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [name, setName] = useState("");
  const create = useAction(async () => openWorkspace((await berth.workspaces.create({ name: name.trim() })).id));
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Create a workspace"
      description="It has its own agents, keys and credits. You invite others to it. It begins without credits."
    >
      <Form of={create} onSubmit={() => create.run()}>
        <Field label="Name" name="name">
          {(props) => (
            <Input
              {...props}
              value={name}
              required
              maxLength={64}
              autoComplete="off"
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <DialogEnd of={create} action="Create" onCancel={onClose} disabled={name.trim() === ""} />
      </Form>
    </Dialog>
  );
}
