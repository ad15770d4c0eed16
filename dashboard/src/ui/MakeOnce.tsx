import { type ReactNode, useState } from "react";
import { Button } from "./Button.tsx";
import { Once } from "./CopyButton.tsx";
import { Dialog } from "./Dialog.tsx";

interface Props {
  /** The text of the button that opens the dialog. */
  action: string;
  title: string;
  /** The name of the thing, such as `key`. */
  what: string;
  /** A note below the title, once it is made. */
  note: string;
  form: (onMade: (secret: string) => void, onCancel: () => void) => ReactNode;
}

/** Makes something with a secret, which is shown once. */
export function MakeOnce({ action, title, what, note, form }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => {
    setOpen(false);
    setSecret(null);
  };
  return (
    <>
      <Button kind="primary" onClick={() => setOpen(true)}>
        {action}
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={secret === null ? title : `Copy the ${what} now`}
        isKept={secret !== null}
      >
        {secret === null ? (
          form(setSecret, close)
        ) : (
          <div className="grid gap-4">
            <p className="text-sm text-muted">{note}</p>
            <Once text={secret} label={`Copy the ${what}`} />
            <Button kind="primary" onClick={close}>
              Done
            </Button>
          </div>
        )}
      </Dialog>
    </>
  );
}
