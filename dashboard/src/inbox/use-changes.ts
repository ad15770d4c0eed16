import { useQueryClient } from "@tanstack/react-query";
import { berth } from "../api/client.ts";
import { useAction } from "../ui/use-action.ts";

export type Selection = Parameters<typeof berth.inbox.read>[0];

/** Marks items as read and dismisses them. `now` rejects where `run` shows the error. */
export function useChanges() {
  const queries = useQueryClient();
  const changed = () => queries.invalidateQueries({ queryKey: ["inbox"] });
  const now = async (chosen: Selection) => {
    await berth.inbox.dismiss(chosen);
    await changed();
  };
  const read = useAction(async (chosen: Selection) => {
    await berth.inbox.read(chosen);
    await changed();
  });
  return { read, dismiss: { ...useAction(now), now } };
}
