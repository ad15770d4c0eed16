import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { FormErrors, issuesOf } from "./form-errors.ts";

interface FormProps {
  /** The form's action. Its fields say why the service refused them. */
  of: { error?: unknown };
  onSubmit: () => void;
  children: ReactNode;
}

/** Fields, and what is done with them. The page stays. After a refusal, the first wrong field has the focus. */
export function Form({ of: { error = null }, onSubmit, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const show = useCallback((field: string) => {
    setShown((before) => new Set([...before, field]));
    return () => setShown((before) => new Set([...before].filter((each) => each !== field)));
  }, []);
  const errors = useMemo(() => ({ issues: issuesOf(error), shown, show }), [error, shown, show]);
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  return (
    <form
      ref={form}
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        // React lets it rise from a dialog to the form that opened it.
        event.stopPropagation();
        onSubmit();
      }}
    >
      <FormErrors value={errors}>{children}</FormErrors>
    </form>
  );
}
