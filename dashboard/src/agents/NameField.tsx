import { type ReactNode, useEffect, useRef, useState } from "react";
import { Field, Input } from "../ui/Field.tsx";

/** As the API says. */
const pattern = "[a-z][a-z0-9\\-]{1,28}[a-z0-9]";
const wholeName = new RegExp(`^${pattern}$`);
const maximum = 30;
const rule = "3–30 lowercase letters, digits or hyphens; must start with a letter and can't end with a hyphen.";

interface NameFieldProps {
  label?: string;
  hint?: ReactNode;
  value: string;
  /** Why the service refused the name. */
  error?: string | null;
  /** Whether it is the view's first field. */
  autoFocus?: boolean;
  onChange: (value: string) => void;
}

/** The name of a new agent, in lower case. Errors are shown as it is typed. */
export function NameField({
  label = "Name",
  hint = rule,
  value,
  error = null,
  autoFocus = false,
  onChange,
}: NameFieldProps) {
  const [isLeft, setLeft] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (error !== null) input.current?.focus();
  }, [error]);
  return (
    <Field label={label} hint={hint} error={error ?? problemOf(value, isLeft)}>
      {(props) => (
        <Input
          {...props}
          ref={input}
          required
          autoFocus={autoFocus}
          pattern={pattern}
          title={rule}
          value={value}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          className="max-w-sm"
          onChange={({ target }) => onChange(target.value.toLowerCase())}
          onBlur={() => setLeft(true)}
          onInvalid={() => setLeft(true)}
        />
      )}
    </Field>
  );
}

/** The error of a name, or null. Until `isWhole`, only those that more letters cannot mend. */
function problemOf(name: string, isWhole: boolean): string | null {
  const [wrong] = /[^a-z0-9-]/u.exec(name) ?? [];
  if (wrong !== undefined) return `“${wrong}” is not allowed: a name has lowercase letters, digits and hyphens.`;
  if (/^[^a-z]/.test(name)) return "A name starts with a letter.";
  if (name.length > maximum) return `A name has up to ${maximum} characters; this has ${name.length}.`;
  return isWhole && name !== "" && !wholeName.test(name) ? rule : null;
}
