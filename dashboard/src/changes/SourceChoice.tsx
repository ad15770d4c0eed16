import type { Snapshot, Turn } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { snapshotsQuery } from "../api/queries.ts";
import { Select } from "../ui/Field.tsx";
import { useFilters } from "../ui/filters.ts";
import { type ChangeFilter, countOf } from "./source.ts";

/** The characters of a message in the list. */
const messageLength = 60;
const time = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

interface ChoiceProps {
  agent: string;
  turns: readonly Turn[];
}

/** Chooses what is reviewed: a turn, or all changes since a turn or a snapshot. */
export function SourceChoice({ agent, turns }: ChoiceProps) {
  const [{ turn = "", since = "" }, change] = useFilters<ChangeFilter>();
  const { data: snapshots = [] } = useQuery(snapshotsQuery(agent));
  const value = since === "" ? turn : `since ${since}`;
  const known = [...turns.flatMap(({ id }) => [id, `since ${id}`]), ...snapshots.map(({ id }) => `since ${id}`)];
  const choose = (next: string) =>
    next.startsWith("since ") ? change({ turn: "", since: next.slice(6) }) : change({ turn: next, since: "" });
  return (
    <Select
      aria-label="Changes to review"
      value={value}
      onChange={({ target }) => choose(target.value)}
      className="basis-full sm:w-80 sm:basis-auto"
    >
      <option value="">Newest turn with changes</option>
      {value !== "" && !known.includes(value) && (
        <option value={value}>{since === "" ? "An earlier turn" : `Since ${since}`}</option>
      )}
      <optgroup label="One turn">
        {turns.map((each) => (
          <option key={each.id} value={each.id}>
            {labelOf(each)}
          </option>
        ))}
      </optgroup>
      {snapshots.length > 0 && (
        <optgroup label="All changes since a snapshot">
          {snapshots.toReversed().map((each) => (
            <option key={each.id} value={`since ${each.id}`}>
              Since {nameOf(each)}
            </option>
          ))}
        </optgroup>
      )}
      <optgroup label="This turn and all later ones">
        {turns.map((each) => (
          <option key={each.id} value={`since ${each.id}`}>
            From {labelOf(each)}
          </option>
        ))}
      </optgroup>
    </Select>
  );
}

function labelOf({ message, changes }: Turn): string {
  const count = changes ? countOf(changes) : 0;
  const text = message.replaceAll(/\s+/g, " ").slice(0, messageLength);
  return `${text} (${count === 1 ? "1 file" : `${count} files`})`;
}

function nameOf({ reason, name, createdAt }: Snapshot): string {
  return reason === "asked" ? name : `${time.format(new Date(createdAt))}, before a ${reason}`;
}
