import type { Agent } from "@berth/client";
import { useQuery } from "@tanstack/react-query";
import { Lock } from "lucide-react";
import { meQuery } from "../api/queries.ts";

/** The mark of a private agent. */
export function PrivateMark({ agent: { maker, ...agent } }: { agent: Agent }) {
  if (!agent.private) return null;
  return (
    <span
      className="inline-flex items-center gap-1 text-xs text-muted"
      title={maker === null ? undefined : `Only ${maker.name} sees its contents`}
    >
      <Lock className="size-3.5" aria-hidden />
      private
    </span>
  );
}

/** Returns whether an agent is another person's private one: its contents are closed, and its maker looks after it. */
export function useIsClosed(): (agent: Agent | undefined) => boolean {
  const { data: me } = useQuery(meQuery);
  return (agent) => agent?.private === true && me !== undefined && agent.maker?.id !== me.person?.id;
}

/** Chooses whether only the maker sees the agent. */
export function PrivateField({ value, onChange }: { value: boolean; onChange: (isPrivate: boolean) => void }) {
  return (
    <div className="grid gap-1">
      <label className="flex w-fit items-center gap-2 text-sm font-medium">
        <input type="checkbox" checked={value} onChange={({ target }) => onChange(target.checked)} />
        Private
      </label>
      <p className="text-sm text-muted">
        Only you see and use it. Owners and admins of the workspace see its name and cost, and can suspend and delete
        it.
      </p>
    </div>
  );
}
