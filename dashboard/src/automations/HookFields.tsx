import { Button } from "../ui/Button.tsx";
import { Field, Input, Select } from "../ui/Field.tsx";
import { comparisons, type FilterFields, type Sender, senders } from "./hook.ts";

export interface Hook {
  sender: Sender;
  /** Empty: a random one. */
  secret: string;
  filters: readonly FilterFields[];
}

interface HookFieldsProps {
  value: Hook;
  /** Whether the hook is made with it. A secret that exists is replaced by a rotation. */
  isNew: boolean;
  onChange: (hook: Hook) => void;
}

/** The sender whose deliveries start an automation, and those that do. */
export function HookFields({ value, isNew, onChange }: HookFieldsProps) {
  const { sender, secret, filters } = value;
  const change = (fields: Partial<Hook>) => onChange({ ...value, ...fields });
  return (
    <div className="grid gap-4">
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Field label="Sender">
          {(props) => (
            <Select {...props} value={sender} onChange={({ target }) => change({ sender: target.value as Sender })}>
              {Object.entries(senders).map(([each, words]) => (
                <option key={each} value={each}>
                  {words}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {isNew && (
          <SecretField label="Secret" sender={sender} value={secret} onChange={(secret) => change({ secret })} />
        )}
      </div>
      <Filters value={filters} onChange={(filters) => change({ filters })} />
    </div>
  );
}

interface SecretFieldProps {
  label: string;
  sender: Sender;
  value: string;
  onChange: (secret: string) => void;
}

/** The secret of a sender that shows one of its own; nothing for the others. */
export function SecretField({ label, sender, value, onChange }: SecretFieldProps) {
  const isSlack = sender === "slack";
  if (!isSlack && sender !== "standard-webhooks") return null;
  return (
    <Field
      label={label}
      hint={isSlack ? "The signing secret of the app." : "If the sender shows one. Default: a random one."}
    >
      {(props) => (
        <Input
          {...props}
          type="password"
          required={isSlack}
          minLength={16}
          maxLength={200}
          autoComplete="off"
          value={value}
          onChange={({ target }) => onChange(target.value.trim())}
        />
      )}
    </Field>
  );
}

const newFilter: FilterFields = { of: "", comparison: "equals", value: "" };
const mostFilters = 10;

function Filters({
  value,
  onChange,
}: {
  value: readonly FilterFields[];
  onChange: (filters: readonly FilterFields[]) => void;
}) {
  const set = (at: number, fields: Partial<FilterFields>) =>
    onChange(value.map((each, index) => (index === at ? { ...each, ...fields } : each)));
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1.5 text-sm font-medium">Filters</legend>
      <p className="text-sm text-muted">
        Deliveries that meet all of them start a run: a header, or a path in the body such as $.action.
      </p>
      {value.map(({ of, comparison, value: compared }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its position only
        <div key={at} className="flex flex-wrap gap-2">
          <Input
            aria-label={`Header or path of filter ${at + 1}`}
            className="!w-auto min-w-40 flex-1 font-mono"
            maxLength={200}
            placeholder="$.action"
            autoComplete="off"
            value={of}
            onChange={({ target }) => set(at, { of: target.value })}
          />
          <Select
            aria-label={`Comparison of filter ${at + 1}`}
            className="!w-auto"
            value={comparison}
            onChange={({ target }) => set(at, { comparison: target.value as FilterFields["comparison"] })}
          >
            {Object.entries(comparisons).map(([each, words]) => (
              <option key={each} value={each}>
                {words}
              </option>
            ))}
          </Select>
          {comparison !== "exists" && (
            <Input
              aria-label={`Value of filter ${at + 1}`}
              className="!w-auto min-w-32 flex-1"
              maxLength={1_000}
              placeholder="opened"
              autoComplete="off"
              value={compared}
              onChange={({ target }) => set(at, { value: target.value })}
            />
          )}
          <Button
            kind="quiet"
            aria-label={`Remove filter ${at + 1}`}
            onClick={() => onChange(value.filter((_, index) => index !== at))}
          >
            Remove
          </Button>
        </div>
      ))}
      {value.length < mostFilters && (
        <div>
          <Button onClick={() => onChange([...value, newFilter])}>Add a filter</Button>
        </div>
      )}
    </fieldset>
  );
}
