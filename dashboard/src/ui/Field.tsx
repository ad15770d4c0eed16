import { type ComponentProps, type ReactNode, useId } from "react";
import { classes } from "./classes.ts";
import { useFieldError } from "./form-errors.ts";

const control =
  "w-full min-h-9 rounded-lg border border-line-strong bg-surface px-3 py-1.5 text-sm placeholder:text-muted disabled:opacity-60";

interface FieldProps {
  label: string;
  /** The field of the form's request, such as `hosts`. */
  name?: string | undefined;
  /** One of its values, if it has several. */
  entry?: string;
  hint?: ReactNode;
  error?: string | null;
  className?: string | undefined;
  children: (props: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}

/** A labelled control with what helps to fill it in, and what was wrong with it. */
export function Field({ label, name, entry = "Entry", hint, error: own = null, className, children }: FieldProps) {
  const id = useId();
  const refused = useFieldError(name, entry);
  const error = own ?? refused;
  const about = hint || error ? { "aria-describedby": `${id}-about` } : {};
  return (
    <div className={classes("grid gap-1.5", className)}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({ id, ...about, ...(error ? { "aria-invalid": true as const } : {}) })}
      {(hint || error) && (
        <p
          id={`${id}-about`}
          className={classes("text-sm", error ? "text-bad" : "text-muted")}
          role={error ? "alert" : undefined}
        >
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input className={classes(control, className)} {...rest} />;
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea className={classes(control, "leading-relaxed", className)} {...rest} />;
}

/** The browser's own: it works with a keyboard, a reader and a thumb. */
export function Select({ className, ...rest }: ComponentProps<"select">) {
  return <select className={classes(control, "pr-8", className)} {...rest} />;
}
