import { useQuery } from "@tanstack/react-query";
import { agentsQuery } from "../api/queries.ts";
import { Field, Select } from "../ui/Field.tsx";
import { AgentChoice } from "./AgentChoice.tsx";

interface AllOrSomeProps {
  /** Null: all. */
  value: readonly string[] | null;
  onChange: (agents: readonly string[] | null) => void;
}

/** All agents of the workspace, or those that are chosen. */
export function AllOrSome({ value, onChange }: AllOrSomeProps) {
  const { data: agents = [] } = useQuery(agentsQuery);
  return (
    <>
      <Field label="Agents">
        {(props) => (
          <Select
            {...props}
            value={value === null ? "all" : "some"}
            onChange={({ target }) => onChange(target.value === "all" ? null : [])}
          >
            <option value="all">All, also later ones</option>
            <option value="some">Only some</option>
          </Select>
        )}
      </Field>
      {value !== null && (
        <AgentChoice legend="These agents" names={agents.map(({ name }) => name)} chosen={value} onChange={onChange} />
      )}
    </>
  );
}
