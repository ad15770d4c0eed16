import { type ReactNode, useState } from "react";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Field, Input } from "./Field.tsx";
import { Form } from "./Form.tsx";
import { messageOf } from "./message.ts";
import { Notice } from "./Notice.tsx";

interface QuestionProps {
  title: string;
  children: ReactNode;
  /** The label of the button that confirms. */
  action: string;
  /** Has to be typed first: for what cannot be undone. */
  word?: string;
  onConfirm: () => Promise<unknown>;
}

interface ConfirmProps extends QuestionProps {
  /** The appearance of the button that opens it. */
  trigger: (open: () => void) => ReactNode;
}

/** A button that asks before something is done that cannot be undone. */
export function Confirm({ trigger, ...question }: ConfirmProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {trigger(() => setOpen(true))}
      <ConfirmDialog isOpen={isOpen} onClose={() => setOpen(false)} {...question} />
    </>
  );
}

interface ConfirmDialogProps extends QuestionProps {
  isOpen: boolean;
  onClose: () => void;
}

/** The question of `Confirm`. */
export function ConfirmDialog({ isOpen, onClose, title, children, action, word, onConfirm }: ConfirmDialogProps) {
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const close = () => {
    onClose();
    setTyped("");
    setError(null);
  };
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(messageOf(failure));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title={title} description={children}>
      <Form of={{}} onSubmit={() => void confirm()}>
        {word !== undefined && (
          <Field label={`Type ${word} to continue`}>
            {(props) => (
              <Input {...props} value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
            )}
          </Field>
        )}
        {error && <Notice tone="bad">{error}</Notice>}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="danger" isBusy={isBusy} disabled={word !== undefined && typed !== word}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
