import { Field, Input } from "./Field.tsx";

interface CountFieldProps {
  label: string;
  /** The field of the form's request. */
  name?: string;
  hint?: string;
  /** As text: a field that is being changed may be empty. */
  value: string;
  min: number;
  max: number;
  /** Shown while it is empty, which is then allowed. */
  placeholder?: string;
  onChange: (value: string) => void;
}

/** A labelled whole number. */
export function CountField({ label, name, hint, value, min, max, placeholder, onChange }: CountFieldProps) {
  return (
    <Field label={label} name={name} hint={hint}>
      {(props) => (
        <Input
          {...props}
          type="number"
          required={placeholder === undefined}
          min={min}
          max={max}
          placeholder={placeholder}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
