import type { Agent, Model } from "@berth/client";
import { Field, Select, TextArea } from "../ui/Field.tsx";
import { efforts } from "./efforts.ts";
import type { InstructionsDraft } from "./instructions-draft.ts";
import { modelLabel } from "./model-label.ts";

interface ModelFieldProps {
  /** Those that the agent's runtime can use. */
  models: readonly Model[];
  /** Empty: the runtime's default. */
  value: string;
  /** The name of the runtime's default, where it has one. */
  usual?: string | null;
  hint: string;
  onChange: (model: string) => void;
}

/** Which model an agent uses, with its price. One that has gone from the list stays chosen. */
export function ModelField({ models, value, usual = null, hint, onChange }: ModelFieldProps) {
  return (
    <Field label="Model" hint={hint}>
      {(props) => (
        <Select {...props} value={value} onChange={(event) => onChange(event.target.value)} className="max-w-xl">
          <option value="">Default{usual && ` (${usual})`}</option>
          {value !== "" && !models.some(({ id }) => id === value) && <option value={value}>{value}</option>}
          {models.map((each) => (
            <option key={each.id} value={each.id}>
              {modelLabel(each)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** How much the model reasons. */
export function EffortField({
  value,
  onChange,
}: {
  value: Agent["effort"];
  onChange: (effort: Agent["effort"]) => void;
}) {
  return (
    <Field label="Effort" hint="How much the model reasons before it answers. More takes longer and costs more.">
      {(props) => (
        <Select
          {...props}
          value={value ?? ""}
          onChange={({ target }) => onChange((target.value || null) as Agent["effort"])}
          className="max-w-xl"
        >
          <option value="">The model's default</option>
          {efforts.map((effort) => (
            <option key={effort} value={effort}>
              {effort}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** The agent's instructions for every turn. */
export function InstructionsField({ draft: { text, isChanged, write, discard } }: { draft: InstructionsDraft }) {
  return (
    <div className="grid gap-1.5">
      <Field label="Instructions" hint="Instructions for every turn: its role, its tasks, its style. Optional.">
        {(props) => (
          <TextArea
            {...props}
            rows={4}
            value={text}
            onChange={(event) => write(event.target.value)}
            className="field-sizing-content max-h-[60vh] min-h-28 font-mono text-[13px]"
          />
        )}
      </Field>
      {isChanged && (
        <p className="text-sm text-muted">
          This is a draft. It stays in this tab until you save or{" "}
          <button type="button" className="rounded text-accent hover:underline" onClick={discard}>
            discard the draft
          </button>
          .
        </p>
      )}
    </div>
  );
}
