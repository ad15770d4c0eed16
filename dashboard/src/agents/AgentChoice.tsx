interface AgentChoiceProps {
  legend: string;
  names: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** Agents to tick, in a list that scrolls where there are many. */
export function AgentChoice({ legend, names, chosen, onChange }: AgentChoiceProps) {
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 text-sm font-medium">{legend}</legend>
      {names.length === 0 && <p className="text-sm text-muted">There are none yet.</p>}
      <div className="grid max-h-40 gap-1 overflow-y-auto">
        {names.map((name) => (
          <label key={name} className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
              }
            />
            {name}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
