import type { ChangeProfile } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { profileQuery } from "../api/queries.ts";
import { useAction } from "../ui/use-action.ts";

/** Changes the profile, and shows it as it is then. */
export function useProfileChange() {
  const queries = useQueryClient();
  return useAction(async (change: ChangeProfile) => {
    queries.setQueryData(profileQuery.queryKey, await berth.profile.change(change));
  });
}
