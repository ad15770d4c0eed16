import { Button } from "./Button.tsx";
import { FormFailure } from "./Failure.tsx";

interface DialogEndProps {
  /** The form's action. Without `error` a field says why it failed. */
  of: { isBusy: boolean; error?: unknown };
  /** Its button's label. */
  action: string;
  disabled?: boolean;
  onCancel: () => void;
}

/** The end of a form in a dialog: why it failed, and its two buttons. */
export function DialogEnd({ of, action, disabled = false, onCancel }: DialogEndProps) {
  return (
    <>
      <FormFailure of={of.error ?? null} />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" isBusy={of.isBusy} disabled={disabled}>
          {action}
        </Button>
      </div>
    </>
  );
}
