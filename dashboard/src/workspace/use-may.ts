import { useQuery } from "@tanstack/react-query";
import { meQuery } from "../api/queries.ts";
import { may, type Need } from "./roles.ts";

/** Whether the person may do this in the workspace. False until that is known. */
export function useMay(need: Need): boolean {
  const { data: me } = useQuery(meQuery);
  return me !== undefined && may(me.workspace.role, need);
}
