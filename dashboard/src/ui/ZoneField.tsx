import { useId } from "react";
import { Field, Input } from "./Field.tsx";

interface ZoneFieldProps {
  /** The field of the form's request. */
  name: string;
  value: string;
  onChange: (zone: string) => void;
  /** Shown if there is no time zone; without it, one is required. */
  placeholder?: string;
}

/** A time zone of the IANA database. */
export function ZoneField({ name, value, onChange, placeholder }: ZoneFieldProps) {
  const list = useId();
  return (
    <Field label="Time zone" name={name}>
      {(props) => (
        <>
          <Input
            {...props}
            list={list}
            required={placeholder === undefined}
            placeholder={placeholder}
            maxLength={64}
            autoComplete="off"
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={list}>
            {["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
