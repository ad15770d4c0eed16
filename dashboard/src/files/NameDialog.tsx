import { useState } from "react";
import { Dialog } from "../ui/Dialog.tsx";
import { DialogEnd } from "../ui/DialogEnd.tsx";
import { Field, Input } from "../ui/Field.tsx";
import { Form } from "../ui/Form.tsx";
import { messageOf } from "../ui/message.ts";
import { useAction } from "../ui/use-action.ts";

interface NameDialogProps {
  title: string;
  initial: string;
  action: string;
  onClose: () => void;
  onNamed: (name: string) => Promise<unknown>;
}

/** Asks for the name of an entry in its folder. */
export function NameDialog({ title, initial, action, onClose, onNamed }: NameDialogProps) {
  const [text, setText] = useState(initial);
  const save = useAction(async () => {
    const name = text.trim();
    if (/^\.{0,2}$|\//.test(name)) throw new Error("A name cannot be empty, . or .., or contain a slash.");
    await onNamed(name);
    onClose();
  });
  return (
    <Dialog isOpen onClose={onClose} title={title}>
      <Form of={save} onSubmit={() => save.run()}>
        <Field label="Name" error={save.error === null ? null : messageOf(save.error)}>
          {(props) => (
            <Input
              {...props}
              value={text}
              autoComplete="off"
              required
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <DialogEnd of={{ isBusy: save.isBusy }} action={action} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}
