import type { ChangeProfile, Profile } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { berth } from "../api/client.ts";
import { profileQuery } from "../api/queries.ts";
import { useAction } from "../ui/use-action.ts";

/** Changes the profile. `wanted` is the change in progress, for controls to show. `onSaved` gets the new profile. */
export function useProfileChange(onSaved: (profile: Profile) => void = () => {}) {
  const queries = useQueryClient();
  const [wanted, setWanted] = useState<ChangeProfile>({});
  const action = useAction(async (change: ChangeProfile) => {
    setWanted(change);
    try {
      const changed = await berth.profile.change(change);
      queries.setQueryData(profileQuery.queryKey, changed);
      onSaved(changed);
    } finally {
      setWanted((latest) => (latest === change ? {} : latest));
    }
  });
  return { ...action, wanted };
}
