import type { ChangeProfile, Profile } from "@berth/client";
import { useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { profileQuery } from "../api/queries.ts";
import { useAction } from "../ui/use-action.ts";

/** Changes the profile. Choices are shown at once, and as they were if the change fails. `onSaved` gets the new profile. */
export function useProfileChange(onSaved: (profile: Profile) => void = () => {}) {
  const queries = useQueryClient();
  const show = (profile: Profile | undefined) => queries.setQueryData(profileQuery.queryKey, profile);
  return useAction(async (change: ChangeProfile) => {
    const { notify, emailNotifications } = change;
    const before = queries.getQueryData(profileQuery.queryKey);
    if (before) {
      show({
        ...before,
        notify: notify ?? before.notify,
        emailNotifications: emailNotifications ?? before.emailNotifications,
      });
    }
    try {
      const changed = await berth.profile.change(change);
      show(changed);
      onSaved(changed);
    } catch (error) {
      show(before);
      throw error;
    }
  });
}
