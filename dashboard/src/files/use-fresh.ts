import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import { agentQuery } from "../api/queries.ts";
import { useAccountEvents } from "../api/use-live.ts";

/** Reads an agent's files again when one of its turns ends, and when the page gets the focus. Wakes no machine. */
export function useFresh(name: string): void {
  const queries = useQueryClient();
  const refresh = useEffectEvent(() => {
    if (queries.getQueryData(agentQuery(name).queryKey)?.status !== "ready") return;
    void queries.invalidateQueries({ queryKey: ["agents", name, "files"] });
  });
  useAccountEvents(
    (event) => event.type === "turn.ended" && event.agent === name,
    () => refresh(),
  );
  useEffect(() => {
    const focused = () => refresh();
    window.addEventListener("focus", focused);
    return () => window.removeEventListener("focus", focused);
  }, []);
}
