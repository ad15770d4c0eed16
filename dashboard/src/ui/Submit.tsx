import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Done } from "./Done.tsx";
import { FormFailure } from "./Failure.tsx";
import { useUnsaved } from "./unsaved.ts";
import type { ActionState } from "./use-action.ts";

interface SubmitProps {
  /** The form's action. */
  of: ActionState;
  /** Whether the form differs from what is saved: there is something to save, and to lose. */
  isChanged: boolean;
  /** Whether it can be sent without a change. */
  isRepeatable?: boolean;
  kind?: "primary" | "plain";
  /** The text after a success. */
  done?: string;
  /** Further buttons. */
  more?: ReactNode;
  children: ReactNode;
}

/** The end of a form within a page: why it failed, its button, and its success. */
export function Submit({
  of,
  isChanged,
  isRepeatable = false,
  kind = "plain",
  done = "Saved",
  more,
  children,
}: SubmitProps) {
  useUnsaved(isChanged);
  return (
    <>
      <FormFailure of={of.error} />
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" kind={kind} isBusy={of.isBusy} disabled={!isChanged && !isRepeatable}>
          {children}
        </Button>
        {more}
        <Done of={of}>{done}</Done>
      </div>
    </>
  );
}
