import type { ReactNode } from "react";
import { Button } from "./Button.tsx";
import { Failure } from "./Failure.tsx";

interface SubmitProps {
  /** The form's action. */
  of: { isBusy: boolean; error: unknown };
  kind?: "primary" | "plain";
  disabled?: boolean;
  children: ReactNode;
}

/** The end of a form within a page: why it failed, and its button. */
export function Submit({ of, children, ...rest }: SubmitProps) {
  return (
    <>
      <Failure of={of.error} />
      <div>
        <Button type="submit" isBusy={of.isBusy} {...rest}>
          {children}
        </Button>
      </div>
    </>
  );
}
