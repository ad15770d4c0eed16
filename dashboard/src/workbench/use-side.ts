import { useNavigate, useSearch } from "@tanstack/react-router";
import { useAgentName } from "../agent/agent-name.ts";
import { rememberedSplit, type SideName, sideIn } from "./side.ts";

/** The view next to the agent's conversation, and what shows another; undefined: none. */
export function useSide(): { side: SideName | undefined; show: (side: SideName | undefined) => void } {
  const name = useAgentName();
  const navigate = useNavigate();
  const { beside } = sideIn(useSearch({ strict: false }));
  return {
    side: beside,
    show: (side) => {
      rememberedSplit.shown = side;
      void navigate({
        to: "/agents/$name",
        params: { name },
        search: (before: object) => ({ ...before, beside: side }),
      });
    },
  };
}
