import { useState } from "react";
import { Input } from "../ui/Field.tsx";

/** Lists of more agents have a search. */
const mostWithoutSearch = 7;

interface AgentChoiceProps {
  legend: string;
  /** Said below the legend. */
  hint?: string | undefined;
  names: readonly string[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** Agents to tick, in a list that scrolls and has a search where there are many. */
export function AgentChoice({ legend, hint, names, chosen, onChange }: AgentChoiceProps) {
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const found = names.filter((name) => name.includes(wanted));
  return (
    <fieldset className="grid gap-1">
      <legend className="mb-1 text-sm font-medium">{legend}</legend>
      {hint !== undefined && <p className="text-sm text-muted">{hint}</p>}
      {names.length === 0 && <p className="text-sm text-muted">There are none yet.</p>}
      {names.length > mostWithoutSearch && (
        <div className="mb-1 flex items-center gap-3">
          <Input
            type="search"
            aria-label={`Search: ${legend}`}
            placeholder="Search"
            maxLength={30}
            className="max-w-64"
            value={search}
            onChange={({ target }) => setSearch(target.value)}
            onKeyDown={(event) => {
              // It does not send the form around it.
              if (event.key === "Enter") event.preventDefault();
            }}
          />
          <p role="status" className="text-sm text-muted">
            {found.length === 0 ? "No matching agents" : `${chosen.length} of ${names.length} chosen`}
          </p>
        </div>
      )}
      <div className="grid max-h-40 gap-1 overflow-y-auto">
        {found.map((name) => (
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
