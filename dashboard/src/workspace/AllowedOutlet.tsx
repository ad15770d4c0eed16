import type { Me } from "@berth/client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Outlet, useChildMatches } from "@tanstack/react-router";
import { meQuery } from "../api/queries.ts";
import { EmptyView } from "../ui/View.tsx";
import { lastWith, may, type Need } from "./roles.ts";

/** The child view, if the person's role may open it. `needOf` gets a route's full path; undefined: any role may. */
export function AllowedOutlet({ needOf }: { needOf: (path: string) => Need | undefined }) {
  const { data: me } = useSuspenseQuery(meQuery);
  const [child] = useChildMatches();
  const need = child && needOf(child.fullPath);
  return need === undefined || may(me.workspace.role, need) ? <Outlet /> : <NeedsRole need={need} me={me} />;
}

function NeedsRole({ need, me: { workspace } }: { need: Need; me: Me }) {
  return (
    <EmptyView title={`This view needs the role ${lastWith[need]}`} to="/members" label="Members">
      Your role in {workspace.name} is {workspace.role}. An owner or admin of the workspace can change it.
    </EmptyView>
  );
}
